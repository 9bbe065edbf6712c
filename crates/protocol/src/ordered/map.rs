//! The members of an object.

use std::collections::HashMap;

use super::Value;

/// The members of an object, in order. Lookup is linear: it is meant for small objects.
#[derive(Debug, Clone, Default)]
pub struct Map(Vec<(String, Value)>);

impl Map {
    /// No members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The members in order. When a name occurs twice, the last value is kept, at the position of the first.
    pub(super) fn from_members(members: Vec<(String, Value)>) -> Self {
        const FEW: usize = 16;
        if members.len() <= FEW {
            let mut map = Self::new();
            members.into_iter().for_each(|(key, value)| map.insert(key, value));
            return map;
        }
        let mut places: HashMap<String, usize> = HashMap::with_capacity(members.len());
        let mut unique: Vec<(String, Value)> = Vec::with_capacity(members.len());
        for (key, value) in members {
            match places.get(&key) {
                Some(place) => unique[*place].1 = value,
                None => {
                    places.insert(key.clone(), unique.len());
                    unique.push((key, value));
                }
            }
        }
        Self(unique)
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The member `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The member `key`.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether there is a member `key`.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the member `key`: in place if it exists, else at the end.
    pub fn insert(&mut self, key: impl Into<String> + AsRef<str>, value: Value) {
        match self.0.iter_mut().find(|(name, _)| name == key.as_ref()) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.into(), value)),
        }
    }

    /// Sets the member `key` and puts it first.
    pub fn insert_first(&mut self, key: impl Into<String> + AsRef<str>, value: Value) {
        self.remove(key.as_ref());
        self.0.insert(0, (key.into(), value));
    }

    /// Removes the member `key`; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let place = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(place).1)
    }

    /// The member `key`, added as `null` when there is none.
    pub(super) fn entry(&mut self, key: &str) -> &mut Value {
        let place = self.0.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), Value::Null));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The names in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(key, _)| key)
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Into<String>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        Self::from_members(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<K: Into<String>> Extend<(K, Value)> for Map {
    fn extend<I: IntoIterator<Item = (K, Value)>>(&mut self, members: I) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(members.into_iter().map(|(key, value)| (key.into(), value)));
        *self = Self::from_members(all);
    }
}
