//! The words of a report, explained: the text behind `driftgate explain`.
//!
//! Each topic comes from the table of its own kind, so that a new one explains itself.

mod finding;

pub use finding::finding;

use crate::{
    exit_code::EXIT_CODES, fate::Fate, noise::Noise, proposal::ProposalKind, report::Reason,
    rule::RULES,
};

/// One word and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub group: &'static str,
    pub name: &'static str,
    pub meaning: String,
}

/// All topics, by group and name.
pub fn topics() -> Vec<Topic> {
    let topic = |group, name, meaning: &str| Topic { group, name, meaning: meaning.to_owned() };
    let mut topics = Vec::new();
    topics.extend(Fate::ALL.iter().map(|it| topic("outcomes", it.name(), it.meaning())));
    topics.extend(Noise::ALL.iter().map(|it| topic("noise", it.name(), it.meaning())));
    topics.extend(ProposalKind::ALL.iter().map(|it| topic("proposals", it.name(), it.meaning())));
    topics.extend(Reason::ALL.iter().map(|it| topic("reasons", it.name(), it.meaning())));
    topics.extend(RULES.iter().map(|it| {
        let meaning = format!("{}\n{}\nSeverity: {}.", it.meaning, it.remedy, it.severity.name());
        Topic { group: "rules", name: it.id, meaning }
    }));
    topics.extend(VERDICTS.iter().map(|(name, meaning)| topic("verdicts", name, meaning)));
    let codes: Vec<String> =
        EXIT_CODES.iter().map(|(code, meaning)| format!("{}  {meaning}", *code as u8)).collect();
    topics.push(topic("others", "exit-codes", &codes.join("\n")));
    topics.push(topic("others", "one-way", ONE_WAY));
    topics.push(topic("others", "pending", PENDING));
    topics.sort_by_key(|topic| (topic.group, topic.name));
    topics
}

const VERDICTS: &[(&str, &str)] = &[
    ("clean", "Nothing was changed outside, and the plan covers everything it should."),
    ("drifted", "At least one resource was changed outside; differences without meaning left out."),
    (
        "inconclusive",
        "No drift was found, but the plan cannot prove that there is none. The reasons say why.",
    ),
];

const ONE_WAY: &str = "Apply would destroy the object, or destroy and create it again, so what \
    was changed outside cannot be undone without losing the object. Never let a pipeline do this \
    on its own.";

const PENDING: &str = "The configuration asks for a change of an attribute that nobody touched \
    outside. It is a planned change, not drift.";
