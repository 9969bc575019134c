//! `torch.autograd.graph.saved_tensors_hooks`.

use crate::trace::{Program, X, expect, trace};
use headroom_torch::ElementType::F32;
use headroom_torch::{ElementType, Packed, Saved, SavedTensorHooks, Shape, Tape, Tensor, mul, unary_saving_input};
use std::cell::RefCell;
use std::rc::Rc;

/// `save_on_cpu`: what is saved leaves the device, and comes back when backward asks for it.
#[derive(Debug, Default)]
struct SaveOnCpu {
    places: RefCell<Vec<(Shape, ElementType)>>,
    released: RefCell<Vec<usize>>,
}

impl SavedTensorHooks for SaveOnCpu {
    fn pack(self: Rc<Self>, _: &Tape, tensor: &Tensor) -> Option<Saved> {
        let mut places = self.places.borrow_mut();
        places.push((tensor.shape(), tensor.element()));
        let place = places.len() - 1;
        drop(places);
        Some(Saved::Packed(Packed::new(self, place)))
    }

    fn unpack(self: Rc<Self>, tape: &Rc<Tape>, place: usize) -> Option<Tensor> {
        let (shape, element) = *self.places.borrow().get(place)?;
        Some(Tensor::new(tape, tape.label(headroom_torch::Kind(1), "back"), shape, element))
    }

    fn release(&self, place: usize) {
        self.released.borrow_mut().push(place);
    }
}

/// Runs `forward` with what it saves on the host; gives back the hooks.
fn on_cpu(t: &Program, forward: impl FnOnce() -> Tensor) -> (Tensor, Rc<SaveOnCpu>) {
    let hooks = Rc::new(SaveOnCpu::default());
    let outer = t.tape.set_saved_tensor_hooks(Some(Rc::<SaveOnCpu>::clone(&hooks)));
    let out = forward();
    t.tape.set_saved_tensor_hooks(outer);
    (out, hooks)
}

#[test]
fn hooks_bring_back_what_they_packed() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let (out, hooks) = on_cpu(t, || unary_saving_input(&x, t.label("out")));
            drop(x);
            t.backward([out]);
            assert_eq!(*hooks.released.borrow(), [0]);
        }),
        "
        + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, + back 8x64x256 f32, + grad2 8x64x256 f32, - back, - grad, - grad2
        ",
    );
}

#[test]
fn hooks_bring_back_the_second_operand_of_a_matmul_first() {
    expect(
        trace(|t| {
            let (a, b) = (t.made("a", &X, F32), t.made("b", &[8, 64, 1], F32));
            let (out, hooks) = on_cpu(t, || mul(&a, &b, t.label("out")));
            drop((a, b));
            t.backward([out]);
            assert_eq!(hooks.places.borrow().len(), 2);
        }),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, + back 8x64x1 f32, + back2 8x64x256 f32, + grad2 8x64x256 f32,
          + grad3 8x64x256 f32, - back2, - back, + grad4 8x64x1 f32, - grad2, - grad, - grad4, - grad3
        ",
    );
}

#[test]
fn hooks_are_told_when_a_graph_is_thrown_away() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let (out, hooks) = on_cpu(t, || unary_saving_input(&x, t.label("out")));
            drop(x);
            assert!(hooks.released.borrow().is_empty());
            drop(out);
            assert_eq!(*hooks.released.borrow(), [0]);
        }),
        "
        + out 8x64x256 f32, - x, - out
        ",
    );
}
