//! The symbols of formulas: what a dimension is called.

/// Declares the symbols: variant, text in formulas.
macro_rules! symbols {
    ($($(#[$doc:meta])* $variant:ident = $text:literal;)+) => {
        /// A symbol of a formula: what a dimension is called. A byte, as every tensor carries four.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Sym { $($(#[$doc])* $variant),+ }
        impl Sym {
            /// Every symbol.
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// As formulas write it.
            pub(super) const fn text(self) -> &'static str { match self { $(Self::$variant => $text),+ } }
        }
    };
}

symbols! {
    /// Sequences in a forward.
    B = "b";
    /// Tokens of each.
    S = "s";
    /// Hidden size.
    H = "h";
    /// Tokens of the longest answer.
    C = "C";
    /// One.
    One = "1";
    /// Attention heads.
    A = "a";
    /// A weight's inputs.
    DIn = "d_in";
    /// A weight's outputs.
    DOut = "d_out";
    /// Vocabulary.
    V = "V";
    /// Rank of adapters or projections.
    R = "r";
    /// Parameters.
    P = "P";
    /// Elements.
    N = "n";
    /// Width of a head.
    D = "d";
    /// Parameters that train.
    T = "T";
    /// A rank's share of a tensor.
    Share = "n/N";
    /// The largest tensor.
    Largest = "largest";
    /// Bytes of a workspace.
    Workspace = "workspace";
    /// Labels of a classification.
    Labels = "labels";
    /// Key-value heads.
    K = "k";
    /// Tokens of a forward.
    Tokens = "b·s";
    /// Tokens of prompt and answer.
    PromptAndAnswer = "P+C";
    /// Intermediate size.
    I = "I";
    /// Tokens but one.
    SLessOne = "s-1";
    /// DeepSpeed's bucket.
    ReduceBucketSize = "reduce_bucket_size";
    /// Rotated part of a latent head.
    DRope = "d_rope";
    /// Blocks of a 4-bit weight.
    WeightBlocks = "d_out·d_in/64";
    /// The other part.
    DNope = "d_nope";
    /// Tokens of a chunk.
    Chunk = "chunk";
    /// Bytes.
    Bytes = "bytes";
    /// Sequences taken together.
    Rows = "b/rows";
    /// Values of all heads.
    AllValues = "a·d_v";
    /// Entries of a code book.
    TwoHundredFiftySix = "256";
    /// Width of a table.
    Width = "width";
    /// An engine's pool, bytes.
    Pool = "share·GPU-weights";
    /// What a vLLM's share leaves for keys and values.
    CachePool = "share·GPU-weights-graphs-profile";
    /// What the profile run of a vLLM takes for a moment.
    Profile = "profile";
    /// Positions and width of a table of cosine and sine.
    RotaryTable = "positions·d";
    /// The driver's part of CUDA graphs.
    Graphs = "graphs·2^20";
    /// Segments of equal tokens.
    Segments = "segments";
    /// Padded tokens.
    SPlusOne = "s+1";
    /// Rows of a table.
    TableRows = "rows";
    /// Rank of latent keys and values.
    RKv = "r_kv";
    /// Parameters that are never freed.
    Persistent = "persistent";
    /// Blocks of an 8-bit state.
    StateBlocks = "n/256";
    /// The largest gradient's part in a partition.
    LargestPart = "min(largest,T/N)";
    /// A weight's shorter side.
    ShortSide = "min(d_in,d_out)";
    /// Parameters gathered at once.
    Live = "min(P,max_live)";
    /// A weight's longer side.
    LongSide = "max(d_in,d_out)";
    /// Values of all key-value heads.
    KeyHeadValues = "k·d_v";
    /// Keys of all key-value heads.
    KeyHeads = "k·d";
    /// Experts that a token visits.
    Visits = "e";
    /// Width of a value head.
    DV = "d_v";
    /// Half of the rotated part.
    HalfRotary = "d_rotary/2";
    /// Rotated part of a head.
    Rotary = "d_rotary";
    /// Pairs of 4-bit numbers.
    PackedPairs = "d_out·d_in/2";
    /// Blocks of quantised scales.
    NestedBlocks = "d_out·d_in/16384";
    /// Queries of all heads.
    QueryHeads = "a·d";
    /// A rank's share of all that trains.
    TrainedShare = "T/N";
    /// A GPU's share of the engine's weights.
    EngineShare = "P/tp";
    /// Experts.
    E = "E";
    /// An answer's tokens but the last.
    CLessOne = "C-1";
    /// An answer's tokens and the one before.
    CPlusOne = "C+1";
    /// The largest captured batch.
    LargestCapture = "captured";
    /// What one of its tokens takes.
    CapturedWidth = "4h+Σd_out/tp";
    /// Gate and up projection together.
    TwoI = "2I";
    /// Entries of a 4-bit code book.
    Sixteen = "16";
    /// Nothing.
    Nothing = "0";
    /// Learned positions.
    Positions = "positions";
    /// Second size of a parameter of its own.
    M = "m";
    /// Fourth size of a parameter of its own.
    J = "j";
    /// Half of a head.
    HalfD = "d/2";
    /// The part of a head that is not rotated.
    PassedBy = "d-d_rotary";
    /// Queries, keys and values together.
    FusedHeads = "(a+2k)·d";
    /// Rank of latent queries.
    RQ = "r_q";
    /// Latent keys and values with their rotated part.
    LatentKeys = "r_kv+d_rope";
    /// Keys and values expanded.
    LatentHeads = "a·(d_nope+d_v)";
    /// A layer's parameters.
    Layer = "layer";
    /// The embedding's parameters.
    Embedding = "embedding";
    /// All other parameters.
    Root = "root";
    /// Tokens whose label counts.
    LabelTokens = "n_labels";
    /// Ranks of the adapters on all experts.
    ExpertRanks = "r·E";
    /// Two.
    Two = "2";
    /// Columns of a tile of logits.
    VocabularyTile = "32768";
    /// Documents of a batch of an embedding model.
    Documents = "b·docs";
}

impl Sym {
    /// How the symbol of number `number` is written.
    pub(super) fn text_of(number: u8) -> &'static str {
        Self::ALL.get(usize::from(number)).map_or("", |sym| sym.text())
    }
}
