//! Schemas and signatures as messages.

use super::type_to_json;
use crate::framework::{
    Attribute, IdentitySchema, Kind, Mode, Nesting, Parameter, Schema, Signature,
};
use proto::tfplugin6::{self as pb, StringKind, schema};

/// The schema as a message.
pub fn schema_to_proto(schema: &Schema) -> pb::Schema {
    let mut block = block_to_proto(&schema.attributes);
    schema.description.clone_into(&mut block.description);
    block.deprecated = schema.deprecated.is_some();
    block.deprecation_message = schema.deprecated.unwrap_or_default().to_owned();
    pb::Schema { version: schema.version, block: Some(block) }
}

/// The identity's schema as a message.
pub fn identity_schema_to_proto(schema: &IdentitySchema) -> pb::ResourceIdentitySchema {
    let attributes =
        schema.attributes.iter().map(|a| pb::resource_identity_schema::IdentityAttribute {
            name: a.name.to_owned(),
            r#type: type_to_json(&a.ty),
            required_for_import: a.required_for_import,
            optional_for_import: !a.required_for_import,
            description: a.description.to_owned(),
        });
    pb::ResourceIdentitySchema {
        version: schema.version,
        identity_attributes: attributes.collect(),
    }
}

/// A function's signature as a message.
pub fn function_to_proto(signature: &Signature) -> pb::Function {
    pb::Function {
        parameters: signature.parameters.iter().map(parameter_to_proto).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter_to_proto),
        r#return: Some(pb::function::Return { r#type: type_to_json(&signature.returns) }),
        summary: signature.summary.to_owned(),
        description: signature.description.to_owned(),
        description_kind: StringKind::Markdown.into(),
        deprecation_message: signature.deprecated.unwrap_or_default().to_owned(),
    }
}

fn parameter_to_proto(parameter: &Parameter) -> pb::function::Parameter {
    pb::function::Parameter {
        name: parameter.name.to_owned(),
        r#type: type_to_json(&parameter.ty),
        allow_null_value: parameter.takes_null,
        allow_unknown_values: parameter.takes_unknown,
        description: parameter.description.to_owned(),
        description_kind: StringKind::Markdown.into(),
    }
}

fn block_to_proto(attributes: &[Attribute]) -> schema::Block {
    schema::Block {
        attributes: attributes.iter().filter(|a| !a.is_block()).map(attribute_to_proto).collect(),
        block_types: attributes.iter().filter_map(nested_block_to_proto).collect(),
        description_kind: StringKind::Markdown.into(),
        ..schema::Block::default()
    }
}

fn attribute_to_proto(attribute: &Attribute) -> schema::Attribute {
    let nested_type = match &attribute.kind {
        Kind::Nested(nesting, children) => Some(schema::Object {
            attributes: children.iter().map(attribute_to_proto).collect(),
            nesting: object_nesting(*nesting).into(),
            ..schema::Object::default()
        }),
        Kind::Value(_) | Kind::Block(..) => None,
    };
    let r#type = match &attribute.kind {
        Kind::Value(ty) => type_to_json(ty),
        Kind::Nested(..) | Kind::Block(..) => Vec::new(),
    };
    schema::Attribute {
        name: attribute.name.to_owned(),
        r#type,
        nested_type,
        description: attribute.description.to_owned(),
        description_kind: StringKind::Markdown.into(),
        required: attribute.mode == Mode::Required,
        optional: matches!(attribute.mode, Mode::Optional | Mode::OptionalComputed),
        computed: attribute.mode.is_computed(),
        sensitive: attribute.sensitive,
        write_only: attribute.write_only,
        deprecated: attribute.deprecated.is_some(),
        deprecation_message: attribute.deprecated.unwrap_or_default().to_owned(),
    }
}

fn nested_block_to_proto(attribute: &Attribute) -> Option<schema::NestedBlock> {
    let Kind::Block(nesting, children) = &attribute.kind else { return None };
    let mut block = block_to_proto(children);
    attribute.description.clone_into(&mut block.description);
    block.deprecated = attribute.deprecated.is_some();
    block.deprecation_message = attribute.deprecated.unwrap_or_default().to_owned();
    let min_items = i64::from(attribute.mode == Mode::Required);
    Some(schema::NestedBlock {
        type_name: attribute.name.to_owned(),
        block: Some(block),
        nesting: block_nesting(*nesting).into(),
        min_items,
        max_items: if *nesting == Nesting::Single { min_items } else { 0 },
    })
}

const fn object_nesting(nesting: Nesting) -> schema::object::NestingMode {
    match nesting {
        // Only blocks are grouped.
        Nesting::Single | Nesting::Group => schema::object::NestingMode::Single,
        Nesting::List => schema::object::NestingMode::List,
        Nesting::Set => schema::object::NestingMode::Set,
        Nesting::Map => schema::object::NestingMode::Map,
    }
}

const fn block_nesting(nesting: Nesting) -> schema::nested_block::NestingMode {
    match nesting {
        Nesting::Single => schema::nested_block::NestingMode::Single,
        Nesting::List => schema::nested_block::NestingMode::List,
        Nesting::Set => schema::nested_block::NestingMode::Set,
        Nesting::Map => schema::nested_block::NestingMode::Map,
        Nesting::Group => schema::nested_block::NestingMode::Group,
    }
}
