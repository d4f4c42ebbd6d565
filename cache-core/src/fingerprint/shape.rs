//! What a type can be to serde.

/// The index of a node.
pub(crate) type Id = usize;

/// The index of a place in which a value stands; it refers to the node of the value's type.
pub(super) type Slot = usize;

/// The names of a type's fields or variants, as serde has them.
pub(crate) type Names = &'static [&'static str];

/// Made-up integers from here on tell which node they were made up for.
pub(super) const MARKED: u64 = 1 << 40;

/// The kinds of value that are tried in turn where any is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyKind {
    Marked,
    Text,
    Integer,
    Bool,
    Unit,
    Float,
    Sequence,
    Map,
}

impl AnyKind {
    pub(super) const ALL: [Self; 8] = [
        Self::Marked,
        Self::Text,
        Self::Integer,
        Self::Bool,
        Self::Unit,
        Self::Float,
        Self::Sequence,
        Self::Map,
    ];
}

#[derive(Debug)]
pub(super) enum Shape {
    /// A scalar; `attempt` counts the made-up values that were refused, `names` are those it is known to accept.
    Leaf {
        kind: &'static str,
        attempt: usize,
        names: Names,
    },
    /// Whatever the input is.
    Any {
        kind: usize,
        accepted: Option<usize>,
        keys: Vec<(&'static str, Slot)>,
    },
    Option {
        content: Slot,
    },
    Newtype {
        name: &'static str,
        content: Slot,
    },
    Sequence {
        content: Slot,
    },
    /// `keys` are those that are known to be wanted: then it is a struct that is read as a map.
    Map {
        key: Slot,
        value: Slot,
        keys: Vec<(&'static str, Slot)>,
    },
    /// Fields in order; with `by_name`, they are read as a map.
    Fields {
        name: &'static str,
        names: Names,
        slots: Vec<Slot>,
        by_name: bool,
    },
    Enum {
        name: &'static str,
        names: Names,
        variants: Vec<Variant>,
    },
}

#[derive(Debug, Default)]
pub(super) struct Variant {
    pub(super) kind: &'static str,
    pub(super) names: Names,
    pub(super) slots: Vec<Slot>,
    /// When it was first seen to its end, counted in variants of all enums.
    pub(super) ended: Option<usize>,
    pub(super) tries: usize,
}

impl Shape {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Leaf { kind, .. } => kind,
            Self::Any { .. } => "any",
            Self::Option { .. } => "option",
            Self::Newtype { .. } => "newtype",
            Self::Sequence { .. } => "sequence",
            Self::Map { .. } => "map",
            Self::Fields { .. } => "fields",
            Self::Enum { .. } => "enum",
        }
    }
}
