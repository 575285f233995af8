//! Policies that many want, switched on with `use` in the configuration file.
//!
//! A new one is one entry of [`LIBRARY`]; `driftgate policies` and the documentation derive from it.

use crate::{config::Each, rule::Severity};
use std::collections::BTreeMap;

/// A policy that need not be written.
#[derive(Debug)]
pub struct BuiltIn {
    pub name: &'static str,
    /// What it forbids, in a sentence; also the message when it is broken.
    pub summary: &'static str,
    pub each: Each,
    pub severity: Severity,
    /// Name, default as JSON, meaning.
    pub params: &'static [(&'static str, &'static str, &'static str)],
    /// In CEL, as in the configuration file.
    pub deny: &'static str,
}

/// All built-in policies, sorted by name.
pub static LIBRARY: &[BuiltIn] = &[
    BuiltIn {
        name: "deletions-limited",
        summary: "the plan destroys more objects than is allowed",
        each: Each::Plan,
        severity: Severity::High,
        params: &[("max", "10", "how many objects a plan may destroy, replacements included")],
        deny: "actions['delete'] + actions['replace'] > params.max ? 'the plan destroys ' + \
               string(actions['delete'] + actions['replace']) + ' objects, and ' + \
               string(params.max) + ' are allowed' : ''",
    },
    BuiltIn {
        name: "no-drift-on-protected",
        summary: "an object that is protected was changed outside",
        each: Each::Finding,
        severity: Severity::Critical,
        params: &[
            ("types", "[]", "resource types, with `*` for any text"),
            ("addresses", "[]", "addresses, with `*` for any text"),
        ],
        deny: "params.types.exists(p, like(type, p)) || \
               params.addresses.exists(p, like(address, p))",
    },
    BuiltIn {
        name: "no-public-ingress",
        summary: "a rule lets the whole internet in",
        each: Each::Change,
        severity: Severity::Critical,
        params: &[(
            "sources",
            r#"["0.0.0.0/0", "::/0", "*", "Internet", "any"]"#,
            "what stands for the whole internet",
        )],
        deny: PUBLIC_INGRESS,
    },
    BuiltIn {
        name: "no-replacement-of-stateful",
        summary: "an object that holds data is destroyed",
        each: Each::Change,
        severity: Severity::Critical,
        params: &[("types", STATEFUL, "resource types that hold data, with `*` for any text")],
        deny: "action in ['delete', 'replace'] && params.types.exists(p, like(type, p))",
    },
    BuiltIn {
        name: "required-tags",
        summary: "an object lacks a tag that it must have",
        each: Each::Change,
        severity: Severity::Medium,
        params: &[
            ("keys", "[]", "the tags"),
            ("types", r#"["*"]"#, "resource types, with `*` for any text"),
            (
                "attributes",
                r#"["tags_all", "tags", "labels"]"#,
                "where tags stand; the first counts",
            ),
        ],
        deny: REQUIRED_TAGS,
    },
];

const PUBLIC_INGRESS: &str = "\
mode == 'managed' && action in ['create', 'update', 'replace'] && (
  (like(type, 'aws_*security_group') && has(after.ingress) && after.ingress != null &&
    after.ingress.exists(rule,
      has(rule.cidr_blocks) && rule.cidr_blocks != null &&
        rule.cidr_blocks.exists(it, it in params.sources) ||
      has(rule.ipv6_cidr_blocks) && rule.ipv6_cidr_blocks != null &&
        rule.ipv6_cidr_blocks.exists(it, it in params.sources))) ||
  (type == 'aws_security_group_rule' && has(after.type) && after.type == 'ingress' && (
    has(after.cidr_blocks) && after.cidr_blocks != null &&
      after.cidr_blocks.exists(it, it in params.sources) ||
    has(after.ipv6_cidr_blocks) && after.ipv6_cidr_blocks != null &&
      after.ipv6_cidr_blocks.exists(it, it in params.sources))) ||
  (type == 'aws_vpc_security_group_ingress_rule' && (
    has(after.cidr_ipv4) && after.cidr_ipv4 in params.sources ||
    has(after.cidr_ipv6) && after.cidr_ipv6 in params.sources)) ||
  (type == 'google_compute_firewall' &&
    !(has(after.direction) && after.direction == 'EGRESS') &&
    has(after.source_ranges) && after.source_ranges != null &&
    after.source_ranges.exists(it, it in params.sources)) ||
  (type == 'azurerm_network_security_rule' &&
    has(after.direction) && after.direction == 'Inbound' &&
    has(after.access) && after.access == 'Allow' && (
      has(after.source_address_prefix) && after.source_address_prefix in params.sources ||
      has(after.source_address_prefixes) && after.source_address_prefixes != null &&
        after.source_address_prefixes.exists(it, it in params.sources))))";

/// An attribute that is known only after apply is left out of `after`, and not asked for.
const REQUIRED_TAGS: &str = "\
mode == 'managed' && action in ['create', 'update', 'replace'] &&
params.types.exists(p, like(type, p)) &&
params.attributes.exists(it, it in after) ?
  params.keys
    .filter(key, params.attributes.filter(it, it in after).map(it, after[it]).map(tags,
      tags == null || !(key in tags))[0])
    .map(key, 'the tag ' + key + ' is missing') :
  []";

const STATEFUL: &str = r#"[
    "aws_db_instance", "aws_rds_cluster*", "aws_docdb_cluster*", "aws_neptune_cluster*",
    "aws_dynamodb_table", "aws_ebs_volume", "aws_efs_file_system", "aws_elasticache_*",
    "aws_elasticsearch_domain", "aws_kinesis_stream", "aws_kms_key", "aws_memorydb_cluster",
    "aws_msk_cluster", "aws_opensearch_domain", "aws_redshift_cluster", "aws_s3_bucket",
    "aws_secretsmanager_secret", "aws_sqs_queue",
    "azurerm_cosmosdb_*", "azurerm_key_vault", "azurerm_key_vault_key", "azurerm_managed_disk",
    "azurerm_mssql_database", "azurerm_mysql_*", "azurerm_postgresql_*", "azurerm_redis_cache",
    "azurerm_storage_account", "azurerm_storage_container",
    "google_bigquery_dataset", "google_bigquery_table", "google_bigtable_instance",
    "google_compute_disk", "google_filestore_instance", "google_firestore_database",
    "google_kms_crypto_key", "google_redis_instance", "google_spanner_*",
    "google_sql_database*", "google_storage_bucket",
    "kubernetes_persistent_volume*"
]"#;

/// The built-in policy of that name.
pub(super) fn find(name: &str) -> Result<&'static BuiltIn, String> {
    LIBRARY.iter().find(|it| it.name == name).ok_or_else(|| {
        let names: Vec<&str> = LIBRARY.iter().map(|it| it.name).collect();
        format!("`{name}` is no built-in policy; there are {}", names.join(", "))
    })
}

/// The parameters of a built-in policy: the given ones over the defaults.
pub(super) fn params(
    built_in: &BuiltIn,
    given: &BTreeMap<String, serde_json::Value>,
) -> Result<BTreeMap<String, serde_json::Value>, String> {
    let mut params: BTreeMap<String, serde_json::Value> = built_in
        .params
        .iter()
        .map(|(name, default, _)| {
            ((*name).to_owned(), serde_json::from_str(default).unwrap_or_default())
        })
        .collect();
    for (name, value) in given {
        let Some(default) = params.get_mut(name) else {
            let names: Vec<&str> = built_in.params.iter().map(|(name, ..)| *name).collect();
            return Err(format!("`{name}` is no parameter; there are {}", names.join(", ")));
        };
        let fits = match (&*default, value) {
            (serde_json::Value::Array(_), serde_json::Value::Array(items)) => {
                items.iter().all(serde_json::Value::is_string)
            }
            (serde_json::Value::Number(_), serde_json::Value::Number(it)) => it.as_i64().is_some(),
            _ => false,
        };
        if !fits {
            let wanted = if default.is_array() { "a list of texts" } else { "a whole number" };
            return Err(format!("the parameter `{name}` should be {wanted}"));
        }
        default.clone_from(value);
    }
    Ok(params)
}
