//! Components by name: built-in and registered ones.

use fairwire_parameters::{Entry, Given, Kind, NotRegistered, Registry};

trait Pet: Given {}

struct Pets;

impl Kind for Pets {
    const NOUN: &'static str = "pet";
    const EXAMPLE: &'static str = "{ cat = {} }";
    const SCHEMA: &'static str = "Pet";
    type Part = dyn Pet;
    type About = &'static str;

    fn summary(about: &&'static str) -> &'static str {
        about
    }
}

macro_rules! pet {
    ($module:ident, $name:literal) => {
        mod $module {
            #[fairwire_parameters::parameters(name = $name)]
            #[derive(Debug, Default, PartialEq)]
            pub(super) struct Spec {}

            impl super::Pet for Spec {}

            pub(super) const fn entry() -> fairwire_parameters::Entry<super::Pets> {
                fairwire_parameters::Entry::<super::Pets>::of::<Spec>("a pet", || Box::new(Spec {}))
            }
        }
    };
}

pet!(cat, "cat");
pet!(dog, "dog");
pet!(owl, "owl");
pet!(cow, "a cow");

fn pets() -> Registry<Pets> {
    const BUILT_IN: &[Entry<Pets>] = &[cat::entry(), dog::entry().known_as(&["hound"])];
    Registry::new(BUILT_IN)
}

#[test]
fn registered_parts_follow_built_in_parts() {
    let pets = pets();
    assert_eq!(pets.register(owl::entry()), Ok(()));
    assert_eq!((pets.names(), pets.place("owl")), (&["cat", "dog", "owl"][..], Some(2)));
    let unknown = pets.find("ow").unwrap_err().to_string();
    assert_eq!(unknown, "there is no pet `ow`; did you mean `owl`? allowed: `cat`, `dog`, `owl`");
}

#[test]
fn taken_untypable_and_late_names_are_refused() {
    let pets = pets();
    let kind = "pet";
    let taken = |name, by| Err(NotRegistered::Taken { kind, name, by });
    assert_eq!(pets.register(cat::entry()), taken("cat", "cat"));
    assert_eq!(pets.register(owl::entry().known_as(&["hound"])), taken("hound", "dog"));
    assert_eq!(pets.register(cow::entry()), Err(NotRegistered::NoName { kind, name: "a cow" }));
    assert_eq!(pets.names(), ["cat", "dog"]);
    assert_eq!(pets.register(owl::entry()), Err(NotRegistered::TooLate { kind, name: "owl" }));
}
