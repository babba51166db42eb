//! Records that are also rows of tables.

use crate::flow_name::FlowName;
use std::fmt;
use std::sync::Arc;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Text.
    Text,
    /// Counts.
    Count,
    /// Numbers.
    Real,
}

/// A field of a record; an absent value is an empty cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(Arc<str>),
    /// A count.
    Count(Option<u64>),
    /// A number.
    Real(Option<f64>),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Count(Some(count)) => write!(f, "{count}"),
            Cell::Real(Some(number)) => write!(f, "{number}"),
            Cell::Count(None) | Cell::Real(None) => Ok(()),
        }
    }
}

pub(crate) trait Field {
    const HOLDS: Holds;

    fn cell(&self) -> Cell;
}

impl Field for FlowName {
    const HOLDS: Holds = Holds::Text;

    fn cell(&self) -> Cell {
        Cell::Text(self.to_string().into())
    }
}

impl Field for Arc<str> {
    const HOLDS: Holds = Holds::Text;

    fn cell(&self) -> Cell {
        Cell::Text(self.clone())
    }
}

impl Field for u64 {
    const HOLDS: Holds = Holds::Count;

    fn cell(&self) -> Cell {
        Cell::Count(Some(*self))
    }
}

impl Field for Option<u64> {
    const HOLDS: Holds = Holds::Count;

    fn cell(&self) -> Cell {
        Cell::Count(*self)
    }
}

impl Field for f64 {
    const HOLDS: Holds = Holds::Real;

    fn cell(&self) -> Cell {
        Cell::Real(Some(*self))
    }
}

impl Field for Option<f64> {
    const HOLDS: Holds = Holds::Real;

    fn cell(&self) -> Cell {
        Cell::Real(*self)
    }
}

macro_rules! row {
    (
        $(#[$about:meta])*
        pub struct $Name:ident { $($(#[$of:meta])* pub $field:ident: $Type:ty,)+ }
    ) => {
        $(#[$about])*
        pub struct $Name { $($(#[$of])* pub $field: $Type,)+ }

        impl $Name {
            /// The names and types of the fields: the columns of a table.
            pub const COLUMNS: &'static [(&'static str, $crate::row::Holds)] =
                &[$((stringify!($field), <$Type as $crate::row::Field>::HOLDS)),+];

            /// The row of this record, one cell per column.
            pub fn row(&self) -> Vec<$crate::row::Cell> {
                vec![$($crate::row::Field::cell(&self.$field)),+]
            }
        }
    };
}

pub(crate) use row;
