// Live reload for `cargo xtask serve`; the release build does not contain this file.
// Trunk's server says on a WebSocket when it has built the page anew or could not.
const address = new URL("/.well-known/trunk/ws", location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";

let lost = false;

function listen() {
  const socket = new WebSocket(address);
  socket.onopen = () => {
    // The server was restarted, so what is on the screen may be old.
    if (lost) location.reload();
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "reload") location.reload();
    if (message.type === "buildFailure") showFailure(message.data.reason);
  };
  socket.onclose = () => {
    lost = true;
    setTimeout(listen, 1000);
  };
}

function showFailure(reason) {
  const panel = document.createElement("pre");
  panel.setAttribute("role", "alert");
  panel.textContent = `The build failed; this page is the last one that worked.\n\n${reason}`;
  Object.assign(panel.style, {
    position: "fixed", inset: "auto 0 0 0", margin: 0, padding: "1rem", maxHeight: "50%", overflow: "auto",
    background: "#7a1020", color: "#fff", zIndex: 1000,
  });
  document.body.append(panel);
}

listen();
