//! Roles, by which callers find a parameter without knowing the parameter's owner.

use core::any::Any;
use core::marker::PhantomData;

/// A role that a parameter of type `T` can have in any struct: `#[parameter(is = BUFFER)]`.
///
/// ```
/// use fairwire_parameters::{Role, parameters};
///
/// const NAME: &str = "shop";
/// const PRICE: Role<f64> = Role::named("price");
///
/// #[parameters]
/// #[derive(Default)]
/// struct Shop {
///     /// What an apple costs.
///     #[parameter(is = PRICE, unset = "nothing", unit = "1")]
///     apple: Option<f64>,
/// }
///
/// let mut shop = Shop::default();
/// *PRICE.slot(&mut shop).expect("a shop has a price") = Some(2.0);
/// assert_eq!((PRICE.given(&shop), PRICE.name_in(&shop)), (Some(&2.0), Some("apple")));
/// ```
#[derive(Debug)]
pub struct Role<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

/// A struct of parameters, some of which have a [`Role`]. Implemented by
/// [`parameters`](crate::parameters).
pub trait Roles {
    /// The name and the slot, an `Option`, of the parameter with the role called `role`.
    fn with_role(&self, role: &str) -> Option<(&'static str, &dyn Any)>;

    /// The slot, mutable.
    fn with_role_mut(&mut self, role: &str) -> Option<&mut dyn Any>;
}

impl<T> Clone for Role<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Role<T> {}

const TYPE: &str = "a role has one type";

impl<T: 'static> Role<T> {
    /// The role of this name.
    pub const fn named(name: &'static str) -> Self {
        Role { name, of: PhantomData }
    }

    /// The value given for the parameter that has this role in `whole`.
    pub fn given(self, whole: &(impl Roles + ?Sized)) -> Option<&T> {
        let (_, slot) = whole.with_role(self.name)?;
        slot.downcast_ref::<Option<T>>().expect(TYPE).as_ref()
    }

    /// The name of the parameter that has this role in `whole`.
    pub fn name_in(self, whole: &(impl Roles + ?Sized)) -> Option<&'static str> {
        whole.with_role(self.name).map(|(name, _)| name)
    }

    /// The slot of the parameter that has this role in `whole`.
    pub fn slot(self, whole: &mut (impl Roles + ?Sized)) -> Option<&mut Option<T>> {
        whole.with_role_mut(self.name).map(|slot| slot.downcast_mut().expect(TYPE))
    }

    /// `slot`, if `sought` is the name of this role.
    #[doc(hidden)]
    pub fn found<'a>(self, sought: &str, slot: &'a Option<T>) -> Option<&'a dyn Any> {
        (self.name == sought).then_some(slot as &dyn Any)
    }

    /// Like `found`, mutable.
    #[doc(hidden)]
    pub fn found_mut<'a>(self, sought: &str, slot: &'a mut Option<T>) -> Option<&'a mut dyn Any> {
        (self.name == sought).then_some(slot as &mut dyn Any)
    }
}
