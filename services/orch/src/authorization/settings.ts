import { setting, settingTypes } from '@orch/platform'

const { duration, list, oneOf, path } = settingTypes
const group = 'Authorization'

/** How a gateway decides who may do what. */
export const authorizationSettings = {
  authorizationMode: setting({
    flag: '--authorization-mode',
    env: 'ORCH_AUTHORIZATION_MODE',
    type: list,
    default: 'RBAC',
    group,
    doc: 'Authorizers, asked in this order until one allows or denies: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. Members of system:masters are always allowed.',
  }),
  authorizationConfig: setting({
    flag: '--authorization-config',
    env: 'ORCH_AUTHORIZATION_CONFIG',
    type: path,
    default: '',
    group,
    doc: 'AuthorizationConfiguration: the authorizers in their order, with any number of webhooks. Instead of --authorization-mode and the --authorization-webhook flags. The file is reloaded when it changes; one that is not valid leaves the present one in use.',
  }),
  authorizationPolicyFile: setting({
    flag: '--authorization-policy-file',
    env: 'ORCH_AUTHORIZATION_POLICY_FILE',
    type: path,
    default: '',
    group,
    doc: 'Policy file of the ABAC authorizer, one JSON object per line.',
  }),
  authorizationWebhookConfigFile: setting({
    flag: '--authorization-webhook-config-file',
    env: 'ORCH_AUTHORIZATION_WEBHOOK_CONFIG_FILE',
    type: path,
    default: '',
    group,
    doc: 'Client configuration file of the authorization webhook.',
  }),
  authorizationWebhookVersion: setting({
    flag: '--authorization-webhook-version',
    env: 'ORCH_AUTHORIZATION_WEBHOOK_VERSION',
    type: oneOf(['v1beta1', 'v1']),
    default: 'v1beta1',
    group,
    doc: 'Version of the SubjectAccessReviews that are sent to the webhook.',
  }),
  authorizationWebhookCacheAuthorizedTtlMs: setting({
    flag: '--authorization-webhook-cache-authorized-ttl',
    env: 'ORCH_AUTHORIZATION_WEBHOOK_CACHE_AUTHORIZED_TTL',
    type: duration,
    default: '5m',
    group,
    doc: 'How long a positive decision of the webhook is cached.',
  }),
  authorizationWebhookCacheUnauthorizedTtlMs: setting({
    flag: '--authorization-webhook-cache-unauthorized-ttl',
    env: 'ORCH_AUTHORIZATION_WEBHOOK_CACHE_UNAUTHORIZED_TTL',
    type: duration,
    default: '30s',
    group,
    doc: 'How long a negative decision of the webhook is cached.',
  }),
}
