//! One kernel: what it computes and what it moves.

use headroom_torch::{ElementType, Kernel};

use super::Part;
use super::rates::{Precision, Rates};
use super::tally::Tally;

/// What is known of a tensor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Elements.
    pub(super) elements: f64,
    /// Elements that lie in memory: fewer where it is an expanded view.
    pub(super) lies: f64,
    /// Its first dimension.
    pub(super) first: f64,
    /// Matrices that its last two dimensions are.
    pub(super) matrices: f64,
    /// Its last dimension.
    pub(super) width: f64,
    pub(super) rank: usize,
    pub(super) element: ElementType,
    /// Whether it gets a gradient.
    pub(super) needs: bool,
    /// Operators that give it one.
    pub(super) readers: u32,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            elements: 0.0,
            lies: 0.0,
            first: 1.0,
            matrices: 1.0,
            width: 1.0,
            rank: 0,
            element: ElementType::Half,
            needs: false,
            readers: 0,
        }
    }
}

impl Known {
    /// Bytes that reading it moves.
    pub(super) fn bytes(&self) -> f64 {
        self.lies * self.element.bytes() as f64
    }

    /// Bytes of a tensor of its shape.
    pub(super) fn whole_bytes(&self) -> f64 {
        self.elements * self.element.bytes() as f64
    }
}

/// What a kernel is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// What its time counts as, where it is a matmul and where it is not.
    pub(super) parts: [Part; 2],
    pub(super) kernel: Kernel,
    /// All that it gives is what it is given.
    pub(super) renames: bool,
}

/// Adds a kernel that reads some tensors and makes others.
pub(super) fn kernel(tally: &mut Tally, rates: &Rates, work: Work, (read, made): (&[Known], &[Known])) {
    let Work { parts: [matmul, other], kernel, renames } = work;
    let nothing = made.iter().all(|known| known.elements == 0.0);
    if nothing || kernel == Kernel::Rename || renames && !kernel.writes_in_place() {
        return;
    }
    let moved = |all: &[Known]| all.iter().map(Known::bytes).sum::<f64>();
    let bytes = moved(read) + moved(made);
    match kernel {
        Kernel::Matmul | Kernel::BiasMatmul | Kernel::GroupedMatmul => {
            product(tally, rates, (matmul, kernel == Kernel::GroupedMatmul), (read, made), bytes);
        }
        Kernel::Convolution => {
            let tensors: Vec<&Known> = read.iter().filter(|known| known.rank > 2).collect();
            // Gradients are made of that of the result, the input and the weight.
            let (out, weight, count) = match (tensors.as_slice(), made.first()) {
                ([_, weight], Some(out)) => (out, weight, 1),
                ([gradient, _, weight], _) => (*gradient, weight, made.iter().filter(|known| known.rank > 2).count()),
                _ => return,
            };
            let channels = weight.first;
            let shape = [out.elements / channels, channels, weight.elements / channels];
            for _ in 0..count {
                tally.product(rates, matmul, (1.0, shape), precision(weight), bytes / count as f64);
            }
        }
        Kernel::TriangularSolve => {
            // Half of a square matrix by each column.
            let [square, out] = [read.first(), made.first()].map(|known| known.copied().unwrap_or_default());
            let shape = [out.elements / (out.matrices * out.width), out.width, square.width / 2.0];
            tally.product(rates, matmul, (out.matrices, shape), precision(&out), bytes);
        }
        Kernel::Lookup => {
            // Of what it chooses from it reads what it takes.
            tally.traffic(rates, other, 2.0 * moved(made), 1.0);
        }
        _ => tally.traffic(rates, other, bytes, 1.0),
    }
}

fn precision(known: &Known) -> Precision {
    if known.element.bytes() <= 2 { Precision::Half } else { Precision::Single }
}

/// Matmuls of one kernel, each of m x k and k x n. Whichever way round matrices lie, the elements of both factors are m·k and k·n
/// and those of the product m·n, which gives k.
fn product(
    tally: &mut Tally,
    rates: &Rates,
    (part, is_grouped): (Part, bool),
    (read, made): (&[Known], &[Known]),
    bytes: f64,
) {
    // A bias comes first, ends of groups come last.
    let mut factors = read.iter().rev().filter(|known| known.rank > 1 && known.element.is_floating());
    let (Some(one), Some(other), Some(out)) = (factors.next(), factors.next(), made.first()) else { return };
    let groups = one.matrices.max(other.matrices).max(out.matrices);
    let mut k = (one.elements * other.elements / (out.elements * groups)).sqrt();
    let n = out.width;
    let mut m = out.elements / (out.matrices * n);
    let (mut run, mut bytes) = (groups, bytes);
    if is_grouped {
        // Rows are shared out among groups evenly: groups without a row run nothing, and nothing of their matrices is read.
        let rows = [one, other].map(|known| if known.rank == 2 { known.elements / known.width } else { 0.0 });
        let rows = rows.into_iter().fold(0.0, f64::max);
        run = groups.min(rows).max(1.0);
        if out.rank == 2 {
            m = rows / run;
            let stacked = [one, other].into_iter().filter(|known| known.rank > 2).map(Known::bytes).sum::<f64>();
            bytes -= stacked * (1.0 - run / groups);
        } else {
            k = rows / run;
        }
    }
    tally.product(rates, part, (run, [m, n, k]), precision(out), bytes);
}
