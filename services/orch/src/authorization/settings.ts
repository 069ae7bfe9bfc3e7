import { settingsOf, settingTypes } from '@orch/platform'

const { duration, list, oneOf, path } = settingTypes
const setting = settingsOf('Authorization')

/** How a gateway decides who may do what. */
export const authorizationSettings = {
  authorizationMode: setting({
    flag: '--authorization-mode',
    type: list,
    default: 'RBAC',
    doc: 'Authorizers, asked in this order until one allows or denies: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. Members of system:masters are always allowed.',
  }),
  authorizationConfig: setting({
    flag: '--authorization-config',
    type: path,
    doc: 'AuthorizationConfiguration: the authorizers in their order, with any number of webhooks. Instead of --authorization-mode and the --authorization-webhook flags. The file is reloaded when it changes; one that is not valid leaves the present one in use.',
  }),
  authorizationPolicyFile: setting({
    flag: '--authorization-policy-file',
    type: path,
    doc: 'Policy file of the ABAC authorizer, one JSON object per line.',
  }),
  authorizationWebhookConfigFile: setting({
    flag: '--authorization-webhook-config-file',
    type: path,
    doc: 'Client configuration file of the authorization webhook.',
  }),
  authorizationWebhookVersion: setting({
    flag: '--authorization-webhook-version',
    type: oneOf(['v1beta1', 'v1']),
    default: 'v1beta1',
    doc: 'Version of the SubjectAccessReviews that are sent to the webhook.',
  }),
  authorizationWebhookCacheAuthorizedTtlMs: setting({
    flag: '--authorization-webhook-cache-authorized-ttl',
    type: duration,
    default: '5m',
    doc: 'How long a positive decision of the webhook is cached.',
  }),
  authorizationWebhookCacheUnauthorizedTtlMs: setting({
    flag: '--authorization-webhook-cache-unauthorized-ttl',
    type: duration,
    default: '30s',
    doc: 'How long a negative decision of the webhook is cached.',
  }),
}
