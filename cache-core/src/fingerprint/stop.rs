//! The error of reading where the type does not know what it reads from. It remembers what the type complained of, to answer
//! better the next time.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::shape::{AnyKind, Id, MARKED, Names};

/// Why a value could not be read.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A type within itself of which no end is known yet.
    Blocked,
    /// Something was learnt, and the next pass gets further.
    Learnt,
    /// The type accepts no such value.
    Refused,
    /// It does not accept the value that was made up for this node.
    Marked(Id),
    /// It accepts no value of this kind somewhere.
    Kind(AnyKind),
    /// It lacks this field.
    Missing(&'static str),
    /// It accepts these names only.
    Unknown(Names),
}

impl std::error::Error for Stop {}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the type does not accept what it was given")
    }
}

impl Error for Stop {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::Refused
    }

    fn invalid_type(unexpected: Unexpected<'_>, _expected: &dyn Expected) -> Self {
        match unexpected {
            Unexpected::Unsigned(number) if number >= MARKED => {
                usize::try_from(number - MARKED).map_or(Self::Refused, Self::Marked)
            }
            Unexpected::Unsigned(_) => Self::Kind(AnyKind::Integer),
            Unexpected::Str(_) => Self::Kind(AnyKind::Text),
            Unexpected::Bool(_) => Self::Kind(AnyKind::Bool),
            Unexpected::Unit => Self::Kind(AnyKind::Unit),
            Unexpected::Float(_) => Self::Kind(AnyKind::Float),
            Unexpected::Seq => Self::Kind(AnyKind::Sequence),
            Unexpected::Map => Self::Kind(AnyKind::Map),
            _ => Self::Refused,
        }
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }

    fn unknown_field(_field: &str, expected: Names) -> Self {
        Self::Unknown(expected)
    }

    fn unknown_variant(_variant: &str, expected: Names) -> Self {
        Self::Unknown(expected)
    }
}
