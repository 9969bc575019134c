//! What CUDA kernels take beside what they give back, by ATen's names: no recording on tensors without memory shows it.

use super::super::embedding::table_gradient;
use crate::autograd::{Call, Tape, Tensor};
use crate::shape::{ElementType, Shape, Symbol, dims};
use std::rc::Rc;

/// Kernels that take something in passing, and operators that are no kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Nothing beside its results.
    Plain,
    /// A conversion to another dtype.
    Cast,
    /// A copy in order of what lies in another; rows of a single sequence are taken as they lie.
    Reshape,
    /// The same elements under another shape.
    View,
    /// Part of a tensor, as a view; all of it is the tensor itself.
    Slice,
    /// Writes into one of its tensors: whose storage it gives is not a view for autograd.
    InPlace,
    /// The same for what only gives a tensor another name.
    Rename,
    /// Rows or elements of a tensor, chosen by numbers.
    Lookup,
    /// Makes its mask, the last of its results, before the others (aten/src/ATen/native/cuda/Dropout.cu `dropout_cuda`).
    Dropout,
    /// cuBLAS, with its workspace.
    Matmul,
    /// cuBLAS with a bias added, with the workspace of cublasLt.
    BiasMatmul,
    /// Matmuls of groups of rows, each with a matrix of its own.
    GroupedMatmul,
    /// Triangular matrices solved for matrices.
    TriangularSolve,
    /// A convolution, or its gradients.
    Convolution,
    /// A sum.
    Sum,
    /// Gradient and result of a softmax are multiplied first.
    SoftmaxBackward,
    /// Gradients of rows, added where their tokens are equal.
    EmbeddingBackward,
    /// Rows added where their indices are equal, in the order of the sorted indices.
    IndexPut,
}

impl Kernel {
    /// Of ATen's operator `name`, without `aten.`; the overload does not matter.
    pub fn of(name: &str) -> Self {
        let base = name.split('.').next().unwrap_or(name);
        match base {
            "_to_copy" | "to" => Self::Cast,
            "reshape" => Self::Reshape,
            "view" => Self::View,
            "slice" => Self::Slice,
            "native_dropout" => Self::Dropout,
            "mm" | "bmm" | "baddbmm" => Self::Matmul,
            "addmm" => Self::BiasMatmul,
            "sum" => Self::Sum,
            "_softmax_backward_data" => Self::SoftmaxBackward,
            "embedding_dense_backward" => Self::EmbeddingBackward,
            "index_put_" | "_index_put_impl_" | "index_put" | "_unsafe_index_put" => Self::IndexPut,
            "_grouped_mm" => Self::GroupedMatmul,
            "linalg_solve_triangular" => Self::TriangularSolve,
            "convolution" | "convolution_backward" => Self::Convolution,
            "embedding" | "index" | "index_select" | "gather" => Self::Lookup,
            "_unsafe_view" | "detach" => Self::Rename,
            _ if base.ends_with('_') => Self::InPlace,
            _ => Self::Plain,
        }
    }

    /// Whether it only converts.
    pub fn is_cast(self) -> bool {
        self == Self::Cast
    }

    /// Whether it is dropout.
    pub fn is_dropout(self) -> bool {
        self == Self::Dropout
    }

    /// Whether it writes into a tensor that it is given.
    pub fn writes_in_place(self) -> bool {
        self == Self::InPlace
    }

    /// Whether what shares a storage with one of its tensors is a view.
    pub(super) fn makes_views(self) -> bool {
        matches!(self, Self::Plain | Self::View | Self::Slice)
    }

    /// The gradient of a table of embeddings: what sorting takes is made before it, and freed behind it.
    pub(super) fn table_gradient(
        self,
        call: &Call<'_>,
        inputs: &[(Shape, ElementType)],
        (shape, element): (Shape, ElementType),
    ) -> Option<Tensor> {
        let tokens = match (self, inputs) {
            (Self::EmbeddingBackward, [_, (indices, _), ..]) => indices.elements(),
            _ => return None,
        };
        Some(table_gradient(call, tokens, shape, element))
    }

    /// Writes what the kernel takes in passing, once its results are made.
    pub(super) fn pass(self, tape: &Rc<Tape>, inputs: &[(Shape, ElementType)], (shape, element): (Shape, ElementType)) {
        match self {
            Self::Matmul => tape.matmul_workspace(),
            Self::BiasMatmul => tape.bias_matmul_workspace(),
            Self::Sum => {
                let Some((from, _)) = inputs.first() else { return };
                let width = shape.elements();
                if from.width() == width && from.elements() > width {
                    tape.row_sum(from.elements() / width.max(1), width);
                }
            }
            Self::SoftmaxBackward => {
                let element = inputs.first().map_or(element, |(_, element)| *element);
                tape.moment(tape.label(tape.vocabulary.gradient, ""), shape, element);
            }
            Self::IndexPut => {
                let Some((indices, ElementType::I64)) = inputs.get(1) else { return };
                sort_indices(tape, *indices);
            }
            Self::Plain
            | Self::Cast
            | Self::Reshape
            | Self::View
            | Self::Slice
            | Self::InPlace
            | Self::Rename
            | Self::Lookup
            | Self::GroupedMatmul
            | Self::TriangularSolve
            | Self::Convolution
            | Self::Dropout
            | Self::EmbeddingBackward => {}
        }
    }
}

/// aten/src/ATen/native/cuda/Indexing.cu `index_put_with_sort_kernel`: indices wrapped, made linear, sorted with the way back.
pub(in crate::operators) fn sort_indices(tape: &Rc<Tape>, indices: Shape) {
    let label = tape.label(tape.vocabulary.gradient, "");
    let places = dims(&[(Symbol::TOKENS, indices.elements())]);
    let index = || Tensor::new(tape, label, places, ElementType::I64);
    let wrapped = index();
    let linear = index();
    drop(wrapped);
    drop((index(), index(), index(), linear));
}
