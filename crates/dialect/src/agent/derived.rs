//! Fields whose value follows from the event alone, for the tables of several agents.

use crosier_protocol::Json;

pub(super) fn bash_tool(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("Bash"))
}

pub(super) fn read_tool(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("Read"))
}

pub(super) fn edit_tool(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("Edit"))
}

pub(super) fn startup(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("startup"))
}

pub(super) fn resume(_: &[(String, Json)]) -> Option<Json> {
    Some(Json::from("resume"))
}
