//! Makes plans of any size, the same for the same [`Shape`], one line as Terraform writes them.
//!
//! Eight types of resources over fifty modules of three instances each, with policies in JSON,
//! nested blocks, masks and a password; a mix of unchanged, updated and replaced ones. All
//! sections that a real plan has are there, so that skipping them costs what it costs.

use std::io::{self, Write};

/// What kind of plan to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Managed resources; one takes about 4 kB.
    pub(crate) resources: usize,
    /// How many of a thousand were changed outside.
    pub(crate) drift_per_mille: usize,
}

const TYPES: [&str; 8] = [
    "aws_instance",
    "aws_security_group",
    "aws_iam_policy",
    "aws_s3_bucket",
    "aws_db_instance",
    "aws_lambda_function",
    "aws_route53_record",
    "aws_autoscaling_group",
];
const PROVIDER: &str = "registry.terraform.io/hashicorp/aws";

/// Which of the three values of an attribute.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    LastKnown,
    Real,
    Desired,
}

/// Writes the plan.
pub(crate) fn write_plan(shape: Shape, out: &mut impl Write) -> io::Result<()> {
    out.write_all(br#"{"format_version":"1.2","terraform_version":"1.11.4","variables":{"region":{"value":"eu-central-1"}},"planned_values":{"root_module":{"resources":["#)?;
    values(shape, Truth::Desired, out)?;
    out.write_all(br#"]}},"resource_drift":["#)?;
    let drifted = (0..shape.resources).filter(|it| drifts(shape, *it));
    separated(drifted, out, |index, out| {
        entry(index, r#"["update"]"#, [Truth::LastKnown, Truth::Real], out)
    })?;
    out.write_all(br#"],"resource_changes":["#)?;
    separated(0..shape.resources, out, |index, out| {
        let actions = match action(shape, index) {
            Action::NoOp => r#"["no-op"]"#,
            Action::Update => r#"["update"]"#,
            Action::Replace => r#"["delete","create"]"#,
        };
        entry(index, actions, [Truth::Real, Truth::Desired], out)
    })?;
    out.write_all(br#"],"output_changes":{},"prior_state":{"format_version":"1.0","values":{"root_module":{"resources":["#)?;
    values(shape, Truth::Real, out)?;
    out.write_all(br#"]}}},"configuration":{"root_module":{"module_calls":{"#)?;
    separated(0..50, out, |module, out| {
        write!(
            out,
            r#""m{module}":{{"source":"./modules/m{module}","expressions":{{"name":{{"constant_value":"m{module}"}}}},"module":{{"resources":["#
        )?;
        separated(0..shape.resources / 150 + 1, out, |index, out| {
            write!(
                out,
                r#"{{"address":"{kind}.r{index}","mode":"managed","type":"{kind}","name":"r{index}","provider_config_key":"aws","expressions":{{"name":{{"references":["var.name"]}},"tags":{{"references":["local.tags","each.key"]}}}},"schema_version":1}}"#,
                kind = TYPES[index % 8]
            )
        })?;
        out.write_all(b"]}}")
    })?;
    out.write_all(br#"}}},"timestamp":"2026-01-01T00:00:00Z","applyable":true,"complete":true,"errored":false}"#)?;
    out.write_all(b"\n")
}

enum Action {
    NoOp,
    Update,
    Replace,
}

fn drifts(shape: Shape, index: usize) -> bool {
    index * shape.drift_per_mille / 1000 != (index + 1) * shape.drift_per_mille / 1000
}

fn action(shape: Shape, index: usize) -> Action {
    match (drifts(shape, index), index % 97, index % 10) {
        (true, 0, _) => Action::Replace,
        (true, _, _) | (false, _, 3) => Action::Update,
        _ => Action::NoOp,
    }
}

fn separated(
    indices: impl Iterator<Item = usize>,
    out: &mut impl Write,
    write: impl Fn(usize, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    let mut item = Vec::new();
    for (position, index) in indices.enumerate() {
        item.clear();
        if position > 0 {
            item.push(b',');
        }
        write(index, &mut item)?;
        out.write_all(&item)?;
    }
    Ok(())
}

fn values(shape: Shape, truth: Truth, out: &mut impl Write) -> io::Result<()> {
    separated(0..shape.resources, out, |index, out| {
        out.push(b'{');
        names(index, out)?;
        out.extend_from_slice(br#","schema_version":1,"values":"#);
        attributes(index, truth, out)?;
        out.extend_from_slice(br#","sensitive_values":{"tags":{},"password":true}}"#);
        Ok(())
    })
}

fn names(index: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let (module, key, kind) = (index % 50, index / 50 % 3, TYPES[index % 8]);
    let module = format!(r#"module.m{module}[\"zone-{key}\"]"#);
    write!(
        out,
        r#""address":"{module}.{kind}.r{index}","module_address":"{module}","mode":"managed","type":"{kind}","name":"r{index}","provider_name":"{PROVIDER}""#
    )
}

fn entry(
    index: usize,
    actions: &str,
    [before, after]: [Truth; 2],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    const MASK: &[u8] =
        br#"{"ingress":[{"cidr_blocks":[false]},{}],"password":true,"tags":{},"tags_all":{}}"#;
    out.push(b'{');
    names(index, out)?;
    write!(out, r#","change":{{"actions":{actions},"before":"#)?;
    attributes(index, before, out)?;
    out.extend_from_slice(br#","after":"#);
    attributes(index, after, out)?;
    out.extend_from_slice(br#","after_unknown":{},"before_sensitive":"#);
    out.extend_from_slice(MASK);
    out.extend_from_slice(br#","after_sensitive":"#);
    out.extend_from_slice(MASK);
    out.extend_from_slice(b"}}");
    Ok(())
}

fn attributes(index: usize, truth: Truth, out: &mut Vec<u8>) -> io::Result<()> {
    let size = if truth == Truth::Real { index % 7 + 3 } else { index % 7 };
    let note = if truth == Truth::Desired && index % 10 == 3 { "new" } else { "old" };
    write!(
        out,
        r#"{{"arn":"arn:aws:service:eu-central-1:123456789012:thing/r{index}","description":"the {note} thing number {index}, kept for the batch workers of zone {zone}","enabled":true,"id":"i-{id:017x}","ingress":[{{"cidr_blocks":["10.{a}.0.0/16"],"description":"","from_port":443,"protocol":"tcp","to_port":443}},{{"cidr_blocks":["10.{a}.1.0/24"],"description":null,"from_port":22,"protocol":"tcp","to_port":22}}],"instance_count":{size},"name":"r{index}","password":"pa55-{index}-word","policy":"{{\"Statement\":[{{\"Action\":[\"s3:GetObject\",\"s3:PutObject\"],\"Effect\":\"Allow\",\"Resource\":\"arn:aws:s3:::bucket-{index}/*\"}}],\"Version\":\"2012-10-17\"}}","ratio":{ratio}.25,"tags":{{"Environment":"production","Name":"r{index}","Owner":"team-{team}"}},"tags_all":{{"Environment":"production","Name":"r{index}","Owner":"team-{team}"}},"timeouts":null,"user_data":null,"vpc_id":"vpc-{vpc:08x}"}}"#,
        zone = index / 50 % 3,
        id = index * 2_654_435_761,
        a = index % 250,
        ratio = index % 13,
        team = index % 17,
        vpc = index % 31,
    )
}
