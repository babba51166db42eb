//! The list of the components of one kind.

/// Lists the calling crate's components of a kind. Each line names a module with a description
/// `ABOUT`, the module's struct of parameters, and any aliases.
///
/// ```text
/// fairwire_parameters::parts! { Disciplines:
///     fairwire_laws::dropper::red => Spec;
///     fairwire_laws::dropper::tail_drop => Spec ("drop-tail", "fifo");
/// }
/// ```
#[macro_export]
macro_rules! parts {
    ($kind:ident: $($($module:ident)::+ => $spec:ident $(($($alias:literal),+))?;)+) => {
        impl $crate::Listed for $kind {
            fn registry() -> &'static $crate::Registry<Self> {
                const BUILT_IN: &[$crate::Entry<$kind>] = &[$(
                    $crate::Entry::<$kind>::of::<$($module)::+::$spec>($($module)::+::ABOUT, || {
                        $crate::Box::new(<$($module)::+::$spec>::default())
                    })
                    $(.known_as(&[$($alias),+]))?
                ),+];
                static ALL: $crate::Registry<$kind> = $crate::Registry::new(BUILT_IN);
                &ALL
            }

            fn read<'de, A: $crate::serde::de::MapAccess<'de>>(
                place: usize,
                table: &mut A,
            ) -> ::core::result::Result<::core::option::Option<$crate::Box<Self::Part>>, A::Error> {
                let mut at = 0..;
                $(if at.next() == Some(place) {
                    return Ok(Some($crate::Box::new(table.next_value::<$($module)::+::$spec>()?)));
                })+
                Ok(None)
            }

            fn write<M: $crate::serde::ser::SerializeMap>(
                place: usize,
                name: &str,
                part: &dyn ::core::any::Any,
                map: &mut M,
            ) -> ::core::result::Result<bool, M::Error> {
                let mut at = 0..;
                $(if at.next() == Some(place) {
                    let part = part.downcast_ref::<$($module)::+::$spec>().expect("a place has one type");
                    return map.serialize_entry(name, part).map(|()| true);
                })+
                Ok(false)
            }
        }
    };
}
