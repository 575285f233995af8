# By its service account's name and its own, or by id.
terraform import runtimecloud_service_account_token.deploy token-ci/deploy
