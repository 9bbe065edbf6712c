//! The `json!` macro.

/// Makes an [`ordered::Value`](crate::ordered::Value) from JSON syntax; members keep the order in which they
/// are written.
///
/// A value is JSON, or an expression of any type that serde can serialize. A name is a literal, or an
/// expression in parentheses.
///
/// ```
/// use crosier_protocol::json;
/// let names = ["b", "a"];
/// assert_eq!(json!({"z": names, "a": {"n": null}}).to_string(), r#"{"z":["b","a"],"a":{"n":null}}"#);
/// ```
#[macro_export]
macro_rules! json {
    (@members $map:ident) => {};
    (@members $map:ident $key:tt : null $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::ordered::Value::Null);
        $crate::json!(@members $map $($($rest)*)?);
    };
    (@members $map:ident $key:tt : [ $($list:tt)* ] $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::json!([ $($list)* ]));
        $crate::json!(@members $map $($($rest)*)?);
    };
    (@members $map:ident $key:tt : { $($object:tt)* } $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::json!({ $($object)* }));
        $crate::json!(@members $map $($($rest)*)?);
    };
    (@members $map:ident $key:tt : $value:expr $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::json!($value));
        $crate::json!(@members $map $($($rest)*)?);
    };
    (@items $list:ident) => {};
    (@items $list:ident null $(, $($rest:tt)*)?) => {
        $list.push($crate::ordered::Value::Null);
        $crate::json!(@items $list $($($rest)*)?);
    };
    (@items $list:ident [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $list.push($crate::json!([ $($inner)* ]));
        $crate::json!(@items $list $($($rest)*)?);
    };
    (@items $list:ident { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $list.push($crate::json!({ $($inner)* }));
        $crate::json!(@items $list $($($rest)*)?);
    };
    (@items $list:ident $value:expr $(, $($rest:tt)*)?) => {
        $list.push($crate::json!($value));
        $crate::json!(@items $list $($($rest)*)?);
    };
    (null) => { $crate::ordered::Value::Null };
    ([]) => { $crate::ordered::Value::Array(::std::vec::Vec::new()) };
    ({}) => { $crate::ordered::Value::Object($crate::ordered::Map::new()) };
    ([ $($items:tt)+ ]) => {{
        let mut list = ::std::vec::Vec::new();
        $crate::json!(@items list $($items)+);
        $crate::ordered::Value::Array(list)
    }};
    ({ $($members:tt)+ }) => {{
        let mut map = $crate::ordered::Map::new();
        $crate::json!(@members map $($members)+);
        $crate::ordered::Value::Object(map)
    }};
    ($value:expr) => { $crate::ordered::Value::of(&$value) };
}
