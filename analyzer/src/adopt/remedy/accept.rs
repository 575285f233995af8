//! Adoption: what is real becomes what the configuration says.

use super::{
    super::{
        draft::{Denied, Draft},
        literal,
        node::{Kind, Node, Reference},
        trail::{self, Spot, Trail},
    },
    Case, Remedy, remove, whole,
};
use crate::{
    address::Address,
    fate::Fate,
    path::{Path, Step},
    proposal::{ProposalKind, Refusal, Risk},
    report::{Attribute, Finding, Outside, Place, Shown},
    schemas::Schema,
    value::Value,
};

pub(super) const REMEDY: Remedy = Remedy {
    kind: ProposalKind::Adopt,
    applies: |case| match case.finding.outside {
        Outside::Changed => true,
        Outside::Deleted => case.finding.is_actionable(),
        Outside::Appeared => false,
    },
    edit: |case, draft| match case.finding.outside {
        Outside::Deleted => whole(draft, |draft| remove::take_out(case, draft)),
        Outside::Changed | Outside::Appeared => case.adopt_all(draft),
    },
    describe,
};

fn describe(case: &Case<'_>) -> (Risk, String, Vec<String>) {
    let summary = match (case.finding.outside, case.finding.fate) {
        (Outside::Deleted, _) => {
            "accept that it is gone: take the resource block out of the configuration"
        }
        (_, Fate::Conflict) => {
            "write what is real into the configuration, in place of the change that waits there"
        }
        _ => "write what is real into the configuration",
    };
    let command = case.command(&format!("apply -refresh-only -target={}", case.target()));
    (Risk::Low, summary.to_owned(), vec![command])
}

impl Case<'_> {
    /// Carries out on `draft` what can be adopted; the rest is refused.
    fn adopt_all(&self, draft: &mut Draft<'_>) -> Vec<Refusal> {
        let wanted = self.finding.attributes.iter().filter(|it| it.fate != Fate::Absorbed);
        wanted
            .filter_map(|attribute| {
                let Denied { reason, place } = self.adopt(attribute, draft).err()?;
                let path = attribute.path.clone();
                Some(Refusal { path, reason, place, instead: self.next_best(attribute) })
            })
            .collect()
    }

    fn adopt(&self, attribute: &Attribute, draft: &mut Draft<'_>) -> Result<(), Denied> {
        let value = literal::writable(&attribute.after)
            .ok_or_else(|| Denied::new("it is sensitive, so it is never written", None))?;
        if attribute.desired == Some(Shown::Unknown) {
            return Err(Denied::new("the provider decides it at apply", None));
        }
        if self.follows_from_tags(attribute)? || self.is_ignored(attribute, draft) {
            return Ok(());
        }
        let schema = self.schema(attribute, draft);
        if schema.is_some_and(|it| it.is_write_only()) {
            return Err(Denied::new("nobody can read it back, so it is never written", None));
        }
        if schema.is_some_and(|it| !it.is_settable() && !it.is_block()) {
            return Err(Denied::new("only the provider sets it", None));
        }
        let desired = attribute.desired.as_ref().and_then(literal::writable);
        let trail = self.trail(attribute, draft, (value, desired))?;
        let spots = trail::follow(draft, trail)?;
        for spot in &spots {
            self.stands_alone(spot, attribute, draft)?;
        }
        let mut tried = draft.clone();
        for (path, change) in spots.iter().flat_map(|spot| &spot.changes) {
            tried.apply(path, change)?;
        }
        *draft = tried;
        Ok(())
    }

    /// What the provider says of the attribute itself, whatever part of it changed.
    fn schema<'d>(&self, attribute: &Attribute, draft: &Draft<'d>) -> Option<Schema<'d>> {
        let first = Path(attribute.steps.0.iter().take(1).cloned().collect());
        let schemas = draft.base.schemas.as_ref()?;
        schemas.lookup(&self.finding.provider, &self.finding.resource_type, &first)
    }

    /// What remains for an attribute that cannot be written.
    fn next_best(&self, attribute: &Attribute) -> Option<ProposalKind> {
        match (&self.finding.action, attribute.fate) {
            (None, _) => Some(ProposalKind::Record),
            (Some(_), Fate::Absorbed | Fate::Observed) => None,
            (Some(_), Fate::Reverted | Fate::Conflict | Fate::Undecidable) => {
                Some(ProposalKind::Ignore)
            }
        }
    }

    /// The way from the resource's block to the attribute.
    fn trail(
        &self,
        attribute: &Attribute,
        draft: &Draft<'_>,
        (value, desired): (Value, Option<Value>),
    ) -> Result<Trail, Denied> {
        let block = &self.finding.block;
        let steps = attribute.steps.0.clone();
        let Some(Step::Key(first)) = steps.first() else {
            return Err(Denied::new("it is no attribute of the resource", None));
        };
        let folder = draft.folder(&block.modules).map_err(|reason| Denied::new(reason, None))?;
        let labels = [block.resource_type.as_str(), block.name.as_str()];
        let holder = trail::holder(draft, folder, ("resource", &labels), first)?;
        let keys = match Address::parse(&self.finding.address) {
            Ok(address) => {
                let modules = address.modules.into_iter().map(|call| call.key);
                modules.chain([address.key]).collect()
            }
            Err(_) => vec![None; block.modules.len() + 1],
        };
        let is_element = matches!(steps.last(), Some(Step::Index(_)));
        Ok(Trail {
            calls: block.modules.clone(),
            file: holder.file.path.clone(),
            at: holder.location(),
            level: Some(block.modules.len()),
            shared: self.shared(draft),
            is_attribute: self.schema(attribute, draft).is_some_and(|it| !it.is_block()),
            // Of a list an element stays, be it null; an attribute that is null is not set.
            wanted: Some(value).filter(|it| is_element || *it != Value::Null),
            steps,
            desired,
            keys,
            hops: 0,
        })
    }

    /// Refuses unless the place sets the value of one object, or all of its objects changed alike.
    fn stands_alone(
        &self,
        spot: &Spot,
        attribute: &Attribute,
        draft: &Draft<'_>,
    ) -> Result<(), Denied> {
        for (path, _) in &spot.changes {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let callers = draft.callers(folder);
            if callers > 1 {
                let reason = format!("its module is called {callers} times");
                return Err(Denied::new(reason, self.declared(draft).ok().map(|it| it.place())));
            }
        }
        if spot.trail.shared.is_empty() {
            return Ok(());
        }
        let alike = self
            .siblings
            .iter()
            .filter(|it| it.outside == Outside::Changed && has(it, attribute))
            .count();
        let place = self.declared(draft).ok().map(|it| it.place());
        match self.finding.block.instances {
            0 => Err(Denied::new("the block may stand for several objects", place)),
            instances if alike == instances => Ok(()),
            instances => Err(Denied::new(
                format!("the block stands for {instances} objects, and {alike} changed like this"),
                place,
            )),
        }
    }

    /// Providers repeat `tags` in `tags_all`, together with tags of their own configuration.
    fn follows_from_tags(&self, attribute: &Attribute) -> Result<bool, Denied> {
        let Some((Step::Key(first), rest)) = attribute.steps.0.split_first() else {
            return Ok(false);
        };
        if first != "tags_all" {
            return Ok(false);
        }
        let has_tags = self.finding.attributes.iter().any(|it| {
            matches!(it.steps.0.split_first(), Some((Step::Key(name), same))
                if name == "tags" && (same == rest || same.is_empty() || rest.is_empty()))
        });
        match has_tags {
            true => Ok(true),
            false => Err(Denied::new("the provider's default_tags set it", None)),
        }
    }

    /// True when `ignore_changes` covers the attribute, and the plan does not say otherwise.
    fn is_ignored(&self, attribute: &Attribute, draft: &Draft<'_>) -> bool {
        let Some(Step::Key(first)) = attribute.steps.0.first() else { return false };
        let ignored = |node: &Node| match &node.kind {
            Kind::Reference(Reference { root, picks }) => {
                root == "all" || root == first && picks.is_empty()
            }
            Kind::Text(text) => text == "all" || text == first,
            _ => false,
        };
        let lifecycle = self.declared(draft);
        let lifecycle =
            lifecycle.as_ref().ok().and_then(|it| it.block.body.block("lifecycle", &[]));
        let list = lifecycle.and_then(|it| it.body.entry("ignore_changes")).map(|it| &it.value);
        let covers = list.is_some_and(|list| match &list.kind {
            Kind::List(items) => items.iter().any(ignored),
            _ => ignored(list),
        });
        covers && attribute.fate == Fate::Undecidable
    }

    /// Where the configuration sets an attribute, when it does.
    pub(in super::super) fn place(
        &self,
        attribute: &Attribute,
        draft: &Draft<'_>,
    ) -> Option<Place> {
        let desired = attribute.desired.as_ref().and_then(literal::writable);
        // What would be written is no matter here.
        let value = literal::writable(&attribute.after).unwrap_or(Value::Bool(true));
        let trail = self.trail(attribute, draft, (value, desired)).ok()?;
        let Some(Step::Key(first)) = attribute.steps.0.first() else { return None };
        let body = &draft.file(&trail.file)?.body.as_ref().ok()?.block_at(&trail.at)?.body;
        if body.entry(first).is_none() && body.blocks_of(first).next().is_none() {
            return None;
        }
        match trail::follow(draft, trail) {
            Ok(spots) => spots.first()?.changes.iter().find_map(|(path, change)| {
                let file = draft.file(path)?;
                let found = file.body.as_ref().ok()?.find(&change.at)?;
                Some(file.place(found.range().start))
            }),
            Err(denied) => denied.place,
        }
    }
}

fn has(finding: &Finding, attribute: &Attribute) -> bool {
    let same = |it: &Attribute| it.steps == attribute.steps && it.after == attribute.after;
    finding.attributes.iter().any(same)
}
