//! Values that handlers share: one of each type, given to the runner at start.

use super::handler::TypeName;
use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// The states of a runner, by type.
#[derive(Clone, Default)]
pub struct States {
    values: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("count", &self.values.len()).finish()
    }
}

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.values.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// The state of type `T`.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(self.values.get(&TypeId::of::<T>())?).downcast().ok()
    }

    pub(crate) fn has(&self, wanted: TypeName) -> bool {
        self.values.contains_key(&(wanted.id)())
    }
}
