//! Whether a group has only one member.

use std::fs;

/// The most that is read of `/etc/passwd` and `/etc/group`: on machines with more, no group is private.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Whether a group is the private group of a user: it has the user's id or name, and nobody else is in it. Users and
/// groups that are not in `/etc/passwd` and `/etc/group` are judged by their ids alone.
pub(crate) fn is_private(group: u32, user: u32) -> bool {
    let (Some(users), Some(groups)) = (read("/etc/passwd"), read("/etc/group")) else { return false };
    is_private_in(group, user, &users, &groups)
}

fn is_private_in(group: u32, user: u32, users: &str, groups: &str) -> bool {
    let mut name = None;
    for line in users.lines() {
        let parts: Vec<&str> = line.split(':').collect();
        let [login, _, id, primary, ..] = parts.as_slice() else { continue };
        if *id == user.to_string() {
            name = name.or(Some(*login));
        } else if *primary == group.to_string() {
            return false;
        }
    }
    let mut has_its_name = group == user;
    for line in groups.lines() {
        let parts: Vec<&str> = line.split(':').collect();
        let [own, _, id, members, ..] = parts.as_slice() else { continue };
        if *id == group.to_string() {
            has_its_name |= name == Some(*own);
            let mut others = members.split(',').filter(|member| !member.is_empty() && name != Some(*member));
            if others.next().is_some() {
                return false;
            }
        }
    }
    has_its_name
}

/// A file of the system; empty when there is none.
fn read(path: &str) -> Option<String> {
    match fs::metadata(path) {
        Ok(meta) if meta.len() > MAX_BYTES => None,
        Ok(_) => fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        Err(_) => Some(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::is_private_in;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbo:x:1001:1005::/:/bin/sh\ncy:x:1002:50::/:/bin/sh\ndi:x:1003:50::/:/bin/sh\n";
    const GROUPS: &str = "root:x:0:\nann:x:1000:\nbo:x:1005:bo\nstaff:x:50:\nteam:x:60:ann,bo\nbo2:x:1001:\n";

    #[test]
    fn a_group_is_private_when_nobody_else_is_in_it() {
        for (group, user, is_private) in [
            (1000, 1000, true),
            (0, 0, true),
            // Another id, and the user's name.
            (1005, 1001, true),
            // The primary group of two users; a group with two members; somebody else's.
            (50, 1002, false),
            (60, 1000, false),
            (1000, 1001, false),
            // In no file.
            (2000, 2000, true),
            (2001, 2000, false),
        ] {
            assert_eq!(is_private_in(group, user, USERS, GROUPS), is_private, "group {group}, user {user}");
        }
        let joined = GROUPS.replace("ann:x:1000:", "ann:x:1000:bo");
        assert!(!is_private_in(1000, 1000, USERS, &joined), "somebody joined it");
    }
}
