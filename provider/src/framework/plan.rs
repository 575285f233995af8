//! The planning rules that all resources share.
//!
//! Terraform proposes a state; [`plan`] makes the plan of it, in three steps:
//!
//! 1. *Settle*: defaults where the configuration has nothing, prior spellings that mean the same,
//!    write-only values out.
//! 2. Nothing differs from the prior state: the plan is the prior state. Else *mark*: computed
//!    attributes without configuration become unknown, except those that keep their prior value.
//! 3. *Replace*: the paths that changed and ask for a new object.
//!
//! Invariants: the same input gives the same plan; knowing more only makes unknowns known; a value
//! from the configuration is never altered, except to a prior value that means the same.

use super::{
    Attribute, KeepPrior, Kind, Mode, Nesting, OnChange, Path, Plan, Planned, Schema, Step, Value,
    timeouts, walk,
};

/// Plans from what Terraform proposes: `proposed` has configured values and prior computed ones.
pub fn plan(schema: &Schema, request: Plan<'_>, proposed: &Value) -> Planned {
    if proposed.is_null() {
        return Planned::default();
    }
    let Plan { config, prior } = request;
    let mut settled = settle_object(&schema.attributes, &Sides { config, proposed, prior });
    if timeouts::are_in(schema) {
        settled = timeouts::stored(settled, config, prior);
    }
    if settled == *prior || timeouts::is_as_imported(&settled, prior) {
        return Planned { state: prior.clone(), replace: Vec::new() };
    }
    let mut state = mark_all(schema, request, &settled);
    refine_id(schema, &mut state);
    let mut replace = Vec::new();
    if !request.prior.is_null() {
        let sides = Change { config: request.config, prior: request.prior, planned: &state };
        replace_in_object(&schema.attributes, &Path::root(), sides, &mut replace);
        replace.sort();
    }
    Planned { state, replace }
}

/// Completes a plan that [`Resource::plan`](super::Resource::plan) may have changed.
///
/// Where the shared rules found nothing to do and the hook did, the other computed attributes become
/// unknown after all. A plan to destroy stays one, and nothing is replaced that isn't there.
pub fn after_hook(
    schema: &Schema,
    request: Plan<'_>,
    shared: &Planned,
    mut hooked: Planned,
) -> Planned {
    if shared.state.is_null() {
        return shared.clone();
    }
    let woken = shared.state == *request.prior && hooked.state != shared.state;
    if woken {
        let marked = mark_all(schema, request, &hooked.state);
        hooked.state = Value::object(schema.attributes.iter().map(|attribute| {
            let name = attribute.name;
            let untouched = hooked.state.get(name) == request.prior.get(name);
            (name, if untouched { marked.get(name) } else { hooked.state.get(name) }.clone())
        }));
    }
    if request.prior.is_null() {
        hooked.replace.clear();
    }
    hooked.replace.sort();
    hooked.replace.dedup();
    hooked
}

/// One place in the three values a plan is made of.
struct Sides<'a> {
    config: &'a Value,
    proposed: &'a Value,
    prior: &'a Value,
}

fn settle_object(attributes: &[Attribute], sides: &Sides<'_>) -> Value {
    if !matches!(sides.proposed, Value::Object(_)) {
        return sides.proposed.clone();
    }
    Value::object(attributes.iter().map(|attribute| {
        let sides = Sides {
            config: sides.config.get(attribute.name),
            proposed: sides.proposed.get(attribute.name),
            prior: sides.prior.get(attribute.name),
        };
        (attribute.name, settle(attribute, &sides))
    }))
}

fn settle(attribute: &Attribute, sides: &Sides<'_>) -> Value {
    if attribute.write_only {
        return Value::Null;
    }
    if let (Value::Null, Some(default)) = (sides.config, default_of(attribute)) {
        return settle_known(
            attribute,
            &Sides { config: &default, proposed: &default, prior: sides.prior },
        );
    }
    if sides.config.is_set() { settle_known(attribute, sides) } else { sides.proposed.clone() }
}

fn settle_known(attribute: &Attribute, sides: &Sides<'_>) -> Value {
    let settled = match &attribute.kind {
        Kind::Value(_) => sides.proposed.clone(),
        Kind::Nested(Nesting::Single | Nesting::Group, children)
        | Kind::Block(Nesting::Single | Nesting::Group, children) => settle_object(children, sides),
        Kind::Nested(Nesting::Set, children) | Kind::Block(Nesting::Set, children) => {
            settle_set(children, sides)
        }
        Kind::Nested(_, children) | Kind::Block(_, children) => {
            walk::map_elements(sides.proposed, |step, proposed| {
                let config = walk::element(sides.config, step);
                let prior = walk::element(sides.prior, step);
                settle_object(children, &Sides { config, proposed, prior })
            })
        }
    };
    // The whole must be the configured or the prior one: a mixture of both is no valid plan.
    if walk::same_meaning(attribute, &settled, sides.prior) { sides.prior.clone() } else { settled }
}

/// Elements of sets have no keys: each is settled against the configuration it came from, and takes
/// the prior form of the first free element that means the same.
fn settle_set(children: &[Attribute], sides: &Sides<'_>) -> Value {
    let mut free: Vec<&Value> = sides.prior.elements().iter().collect();
    walk::map_elements(sides.proposed, |_, proposed| {
        let config = origin(sides.config, proposed);
        let settled = settle_object(children, &Sides { config, proposed, prior: &Value::Null });
        match free.iter().position(|prior| walk::same_object(children, &settled, prior)) {
            Some(at) => free.swap_remove(at).clone(),
            None => settled,
        }
    })
}

/// The element of a configured set that a proposed element was made of: the one that agrees in all
/// it sets, and sets the most.
fn origin<'a>(config: &'a Value, proposed: &'a Value) -> &'a Value {
    fn agreement(config: &Value, proposed: &Value) -> Option<usize> {
        match config {
            Value::Null => Some(0),
            Value::Object(attributes) => attributes
                .iter()
                .map(|(name, value)| agreement(value, proposed.get(name)))
                .sum::<Option<usize>>(),
            _ if config == proposed => Some(1),
            // Within a set, elements may have been sorted anew.
            Value::Set(elements) if elements.len() == proposed.elements().len() => {
                let best = |c| proposed.elements().iter().filter_map(|p| agreement(c, p)).max();
                elements.iter().map(best).sum()
            }
            Value::List(_) | Value::Map(_) => {
                let (config, proposed) = (walk::elements(config), walk::elements(proposed));
                (config.len() == proposed.len()).then(|| {
                    config.iter().zip(&proposed).map(|((_, c), (_, p))| agreement(c, p)).sum()
                })?
            }
            _ => None,
        }
    }
    config
        .elements()
        .iter()
        .filter_map(|element| Some((agreement(element, proposed)?, element)))
        .max_by_key(|(agreed, _)| *agreed)
        .map_or(proposed, |(_, element)| element)
}

/// The default in full.
fn default_of(attribute: &Attribute) -> Option<Value> {
    let default = attribute.default.as_ref()?;
    // A default that doesn't fit its type is caught by the schema's own check; as it is, it shows.
    Some(
        walk::conform(&attribute.value_type(), default, &Path::root())
            .unwrap_or_else(|_| default.clone()),
    )
}

fn mark_all(schema: &Schema, request: Plan<'_>, settled: &Value) -> Value {
    let marked = mark_object(&schema.attributes, request.config, settled, request.prior);
    if timeouts::are_in(schema) {
        timeouts::stored(marked, request.config, request.prior)
    } else {
        marked
    }
}

fn mark_object(attributes: &[Attribute], config: &Value, settled: &Value, prior: &Value) -> Value {
    if !matches!(settled, Value::Object(_)) {
        return settled.clone();
    }
    Value::object(attributes.iter().map(|attribute| {
        let (config, settled) = (config.get(attribute.name), settled.get(attribute.name));
        (attribute.name, mark(attribute, (config, settled, prior)))
    }))
}

/// `prior` is the whole prior object: only where there was one is there a prior value to keep.
fn mark(attribute: &Attribute, (config, settled, prior): (&Value, &Value, &Value)) -> Value {
    let default = if config.is_null() { default_of(attribute) } else { None };
    let config = default.as_ref().unwrap_or(config);
    let prior_value = prior.get(attribute.name);
    if config.is_null() {
        let open = attribute.mode.is_computed() && !attribute.write_only && !attribute.is_block();
        let kept = match attribute.keep_prior {
            KeepPrior::Never => false,
            KeepPrior::Always => !prior.is_null(),
            KeepPrior::UnlessNull => !prior_value.is_null(),
        };
        return match (open && !kept, attribute.never_null) {
            (false, _) => settled.clone(),
            (true, false) => Value::UNKNOWN,
            (true, true) => Value::unknown_not_null(),
        };
    }
    match &attribute.kind {
        Kind::Value(_) => settled.clone(),
        Kind::Nested(Nesting::Single | Nesting::Group, children)
        | Kind::Block(Nesting::Single | Nesting::Group, children) => {
            mark_object(children, config, settled, prior_value)
        }
        Kind::Nested(nesting, children) | Kind::Block(nesting, children) => {
            walk::map_elements(settled, |step, element| {
                if *nesting == Nesting::Set {
                    return mark_set_element(children, config, element, prior_value);
                }
                let prior = walk::element(prior_value, step);
                mark_object(children, walk::element(config, step), element, prior)
            })
        }
    }
}

/// An element that was there before stays as it was: were its computed values unknown, it would
/// show as another element.
fn mark_set_element(
    children: &[Attribute],
    config: &Value,
    element: &Value,
    prior: &Value,
) -> Value {
    if prior.elements().contains(element) {
        return element.clone();
    }
    mark_object(children, origin(config, element), element, &Value::Null)
}

/// Promises that an id will not be null, so that conditions on it are known while planning.
fn refine_id(schema: &Schema, state: &mut Value) {
    let computed = schema.attribute("id").is_some_and(|id| id.mode == Mode::Computed);
    if computed && state.get("id").is_unknown() {
        state.set_attribute("id", Value::unknown_not_null());
    }
}

/// One place before and after a change.
#[derive(Clone, Copy)]
struct Change<'a> {
    config: &'a Value,
    prior: &'a Value,
    planned: &'a Value,
}

impl Change<'_> {
    fn map<'b>(self, part: impl Fn(&'b Value) -> &'b Value) -> Change<'b>
    where
        Self: 'b,
    {
        let Change { config, prior, planned } = self;
        Change { config: part(config), prior: part(prior), planned: part(planned) }
    }

    fn asks_for_replacement(self, on_change: OnChange) -> bool {
        match on_change {
            OnChange::Update => false,
            OnChange::Replace => true,
            OnChange::ReplaceIf(needs) => needs(self.prior, self.planned),
            OnChange::ReplaceIfConfigured => !self.config.is_null(),
        }
    }
}

fn replace_paths(attribute: &Attribute, path: &Path, change: Change<'_>, found: &mut Vec<Path>) {
    let Change { config, prior, planned } = change;
    if prior == planned {
        return;
    }
    if change.asks_for_replacement(attribute.on_change) {
        found.push(path.clone());
        return;
    }
    match &attribute.kind {
        Kind::Value(_) => {}
        Kind::Nested(Nesting::Single | Nesting::Group, children)
        | Kind::Block(Nesting::Single | Nesting::Group, children) => {
            replace_in_object(children, path, change, found);
        }
        Kind::Nested(Nesting::Set, children) | Kind::Block(Nesting::Set, children) => {
            // Elements have no path: a change within one that asks for replacement is told at the set.
            let mut inside = Vec::new();
            for planned in planned.elements().iter().filter(|e| !prior.elements().contains(e)) {
                let change =
                    Change { config: origin(config, planned), prior: &Value::Null, planned };
                replace_in_object(children, path, change, &mut inside);
            }
            for prior in prior.elements().iter().filter(|e| !planned.elements().contains(e)) {
                let change = Change { config: &Value::Null, prior, planned: &Value::Null };
                replace_in_object(children, path, change, &mut inside);
            }
            if !inside.is_empty() {
                found.push(path.clone());
            }
        }
        Kind::Nested(_, children) | Kind::Block(_, children) => {
            let mut steps: Vec<Step> =
                [prior, planned].into_iter().flat_map(walk::elements).map(|(s, _)| s).collect();
            steps.sort();
            steps.dedup();
            for step in steps {
                let change = change.map(|side| walk::element(side, &step));
                replace_in_object(children, &path.join(step.clone()), change, found);
            }
        }
    }
}

fn replace_in_object(
    children: &[Attribute],
    path: &Path,
    change: Change<'_>,
    found: &mut Vec<Path>,
) {
    for child in children {
        let change = change.map(|side| side.get(child.name));
        replace_paths(child, &path.child(child.name), change, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::new("A thing.").attributes([
            Attribute::string("id", "Its id.").computed().keep_prior(),
            Attribute::number("total", "A sum.").computed(),
            Attribute::string("changed_at", "When it changed.").computed(),
            Attribute::nested(
                "rules",
                Nesting::Set,
                "Its rules.",
                [
                    Attribute::number("port", "Its port.").required().replace(),
                    Attribute::string("color", "Its color.").default("red"),
                ],
            ),
        ])
    }

    fn rule(port: u32, color: Value) -> Value {
        Value::object([("port", port.into()), ("color", color)])
    }

    fn thing(computed: [Value; 3], rules: Vec<Value>) -> Value {
        let [id, total, changed_at] = computed;
        Value::object([
            ("id", id),
            ("total", total),
            ("changed_at", changed_at),
            ("rules", Value::set(rules)),
        ])
    }

    #[test]
    fn a_hook_that_finds_a_change_makes_the_rest_unknown() {
        let prior = thing(["a".into(), 1_u32.into(), "monday".into()], vec![]);
        let config = thing([Value::Null, Value::Null, Value::Null], vec![]);
        let request = Plan { prior: &prior, config: &config };
        let shared = plan(&schema(), request, &prior);
        assert_eq!(shared.state, prior);
        let mut hooked = shared.clone();
        hooked.state.set_attribute("total", 2_u32);
        let planned = after_hook(&schema(), request, &shared, hooked);
        assert_eq!(planned.state, thing(["a".into(), 2_u32.into(), Value::UNKNOWN], vec![]));
    }

    #[test]
    fn a_destroy_stays_one_whatever_a_hook_does() {
        let prior = thing(["a".into(), 1_u32.into(), "monday".into()], vec![]);
        let request = Plan { prior: &prior, config: &Value::Null };
        let hooked = Planned { state: prior.clone(), replace: vec!["total".into()] };
        let planned = after_hook(&schema(), request, &Planned::default(), hooked);
        assert_eq!(planned, Planned::default());
    }

    #[test]
    fn a_replacing_change_within_a_set_is_told_at_the_set_and_defaults_reach_its_elements() {
        let prior = thing(["a".into(), 1_u32.into(), "monday".into()], vec![rule(1, "red".into())]);
        let rules = vec![rule(1, Value::Null), rule(2, Value::Null)];
        let config = thing([Value::Null, Value::Null, Value::Null], rules.clone());
        let proposed = thing(["a".into(), 1_u32.into(), "monday".into()], rules);
        let planned = plan(&schema(), Plan { prior: &prior, config: &config }, &proposed);
        let colored = Value::set([rule(1, "red".into()), rule(2, "red".into())]);
        assert_eq!(planned.state.get("rules"), &colored);
        assert_eq!(planned.replace, ["rules".into()]);
    }
}
