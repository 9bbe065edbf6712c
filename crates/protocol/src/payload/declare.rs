//! The macro that declares payload structs. Besides its row, an event needs one block in one of the other
//! files of this folder, with its fields in the order of the row.

/// Declares a public struct for each block, with setters, its [`Payload`](super::Payload) implementation and
/// a constant of the same name.
///
/// `Name on FIELD` names the field that matchers run on; `of FIELD` the field with the agent whose hooks run, when
/// it is not the base field. A field is
/// - `required`: an argument of `new`;
/// - `optional`: an `Option` that is left out of the JSON when it is `None`;
/// - `defaulted`: always in the JSON that is written; its type's default when it is missing from JSON that is read.
macro_rules! payloads {
    ($($(#[$about:meta])* $name:ident $(on $matcher:ident)? $(of $agent:ident)? { $($fields:tt)* })*) => {
        $(
            payload_struct! { [$(#[$about])*] $name {} {} {} $($fields)* }

            impl super::Payload for $name {
                #[inline]
                fn row() -> &'static crate::event::EventRow {
                    const { crate::event::built_in_row(stringify!($name)) }
                }
                fn base(&self) -> &Base { &self.base }
                fn base_mut(&mut self) -> &mut Base { &mut self.base }
                fn matcher_value(&self) -> Option<&str> { matcher_value!(self $($matcher)?) }
                $(fn agent_id(&self) -> Option<&str> { Some(&self.$agent) })?
            }

            #[expect(non_upper_case_globals, reason = "named like the struct, to stand for its event")]
            #[doc = concat!("The event of [`", stringify!($name), "`](struct@", stringify!($name), ").")]
            pub const $name: super::EventOf<$name> = super::EventOf::new();
        )*

        /// Calls `visitor` with every event of this file.
        #[cfg(test)]
        pub(super) fn each(visitor: &mut impl super::tests::EachPayload) {
            $(visitor.visit($name);)*
        }
    };
}

macro_rules! matcher_value {
    ($self:ident) => {
        None
    };
    ($self:ident $field:ident) => {
        Some(&$self.$field)
    };
}

/// Sorts the fields, one at a time, into the struct's fields, the arguments of `new` and the setters.
macro_rules! payload_struct {
    ($about:tt $name:ident { $($all:tt)* } { $($new:tt)* } { $($set:tt)* }
        $(#[$doc:meta])* required $field:ident: $type:ty, $($rest:tt)*) => {
        payload_struct! {
            $about $name
            { $($all)* $(#[$doc])* pub $field: $type, }
            { $($new)* $field: $type, }
            { $($set)* }
            $($rest)*
        }
    };
    ($about:tt $name:ident { $($all:tt)* } { $($new:tt)* } { $($set:tt)* }
        $(#[$doc:meta])* optional $field:ident: $type:ty, $($rest:tt)*) => {
        payload_struct! {
            $about $name
            { $($all)* $(#[$doc])* #[serde(default, skip_serializing_if = "Option::is_none")]
              pub $field: Option<$type>, }
            { $($new)* }
            { $($set)* $(#[$doc])* $field: Option<$type>, }
            $($rest)*
        }
    };
    ($about:tt $name:ident { $($all:tt)* } { $($new:tt)* } { $($set:tt)* }
        $(#[$doc:meta])* defaulted $field:ident: $type:ty, $($rest:tt)*) => {
        payload_struct! {
            $about $name
            { $($all)* $(#[$doc])* #[serde(default)] pub $field: $type, }
            { $($new)* }
            { $($set)* $(#[$doc])* $field: $type, }
            $($rest)*
        }
    };
    ([$($about:tt)*] $name:ident { $($all:tt)* } { $($arg:ident: $arg_type:ty,)* }
        { $($(#[$doc:meta])* $set:ident: $set_type:ty,)* }) => {
        $($about)*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub struct $name {
            /// The fields that every event has.
            #[serde(skip)]
            pub base: Base,
            $($all)*
        }

        impl $name {
            /// The event with its required fields; each other field has a setter of the same name.
            #[must_use]
            pub fn new($($arg: impl Into<$arg_type>),*) -> Self {
                Self { $($arg: $arg.into(),)* ..Self::default() }
            }

            /// The same event with these base fields.
            #[must_use]
            pub fn with_base(mut self, base: Base) -> Self {
                self.base = base;
                self
            }
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $set(mut self, value: impl Into<$set_type>) -> Self {
                    self.$set = value.into();
                    self
                }
            )*
        }
    };
}
