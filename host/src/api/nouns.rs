//! What the handlers of declared resources do alike: they find one, read a page of many, and take in a
//! deletion.

use std::sync::Arc;

use proto::runtimecloud::v1;
use tonic::{Request, Response, Status};

use super::{
    Call, Core, View, caller,
    page::{self, Page},
    status,
};
use crate::{
    admission::{Declared, Delete},
    resource,
};

/// Answers with the resource that a request names.
pub fn get<N: Declared, M>(
    core: &Core,
    request: &Request<v1::GetRequest>,
    encode: impl Fn(&N, &View) -> M,
) -> Result<Response<M>, Status> {
    let caller = caller(request)?;
    let view = core.view();
    let key = &request.get_ref().key;
    match N::find(&view.records, key) {
        Some(it) => Ok(Response::new(encode(it, &view))),
        None => Err(status::not_found(N::KIND, key, &caller.request_id)),
    }
}

/// The page that a request asks for of all that carry its labels, in the order of `sort_key`.
pub fn page<'a, N: Declared + 'a, M>(
    view: &View,
    request: &Request<v1::ListRequest>,
    all: impl Iterator<Item = &'a Arc<N>>,
    sort_key: impl Fn(&N) -> String,
    encode: impl Fn(&N, &View) -> M,
) -> Result<Page<M>, Status> {
    let caller = caller(request)?;
    let request = request.get_ref();
    let matching = all.filter(|it| resource::matches(&request.labels, &it.meta().labels));
    let keyed = matching.map(|it| (sort_key(it), it));
    let page = page::cut(request, &caller.request_id, keyed)?;
    let items = page.items.into_iter().map(|it| encode(it, view)).collect();
    Ok(Page { items, next_page_token: page.next_page_token })
}

/// The only parent whose resources a list shall have; `None`: all have a place in it.
pub fn parent<'a, N: Declared>(
    view: &'a View,
    request: &Request<v1::ListRequest>,
) -> Result<Option<&'a N>, Status> {
    let caller = caller(request)?;
    match request.get_ref().parent.as_str() {
        "" => Ok(None),
        key => match N::find(&view.records, key) {
            Some(parent) => Ok(Some(parent)),
            None => Err(status::not_found(N::KIND, key, &caller.request_id)),
        },
    }
}

/// The envelope of a deletion, and what shall go.
pub fn deletion(request: Request<v1::DeleteRequest>) -> Result<(Call, Delete), Status> {
    let call = Call::new(&request, request.get_ref().options.as_ref())?;
    let delete = Delete { key: request.into_inner().key, revision: call.revision() };
    Ok((call, delete))
}
