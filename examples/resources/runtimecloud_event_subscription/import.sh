# By name or by id. The secret stays as it is until `secret_wo_version` changes.
terraform import runtimecloud_event_subscription.chat chat
