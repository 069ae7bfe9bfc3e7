import { setting, settingTypes } from '@orch/platform'

const { bool, duration, list, path, string } = settingTypes
const group = 'Authentication'

/** Tokens that the server itself knows: of a file, of Secrets, of service accounts. */
export const tokenSettings = {
  tokenAuthFile: setting({
    flag: '--token-auth-file',
    env: 'ORCH_TOKEN_AUTH_FILE',
    type: path,
    default: '',
    group,
    doc: 'CSV file with static tokens, read once at the start: token,user,uid and optionally "group,group".',
  }),
  enableBootstrapTokenAuth: setting({
    flag: '--enable-bootstrap-token-auth',
    env: 'ORCH_ENABLE_BOOTSTRAP_TOKEN_AUTH',
    type: bool,
    default: 'false',
    group,
    doc: 'Accepts bootstrap tokens from Secrets in the system namespace.',
  }),
  serviceAccountKeyFile: setting({
    flag: '--service-account-key-file',
    env: 'ORCH_SERVICE_ACCOUNT_KEY_FILE',
    type: list,
    default: '',
    defaultDoc: 'the file of --tls-private-key-file',
    group,
    doc: 'Files with RSA or ECDSA keys in PEM format, private or public, any number per file, that verify service account tokens. The signing key is always included.',
  }),
  serviceAccountSigningKeyFile: setting({
    flag: '--service-account-signing-key-file',
    env: 'ORCH_SERVICE_ACCOUNT_SIGNING_KEY_FILE',
    type: path,
    default: '',
    group,
    doc: 'Private key that signs service account tokens. Without it orch up generates one in its data folder. Separate gateways require it, and all of them the same one.',
  }),
  serviceAccountIssuer: setting({
    flag: '--service-account-issuer',
    env: 'ORCH_SERVICE_ACCOUNT_ISSUER',
    type: list,
    default: '',
    defaultDoc: 'https://<server>.default.svc.cluster.local',
    group,
    doc: 'Issuers of service account tokens: the first is used for new tokens, all are accepted. Others find the verification keys at an https issuer.',
  }),
  serviceAccountJwksUri: setting({
    flag: '--service-account-jwks-uri',
    env: 'ORCH_SERVICE_ACCOUNT_JWKS_URI',
    type: string,
    default: '',
    group,
    doc: 'https URL where others find the public keys; by default /openid/v1/jwks of this server.',
  }),
  serviceAccountLookup: setting({
    flag: '--service-account-lookup',
    env: 'ORCH_SERVICE_ACCOUNT_LOOKUP',
    type: bool,
    default: 'true',
    group,
    doc: 'Accepts a token from a Secret only while the Secret and its service account exist. Other service account tokens are always looked up.',
  }),
  serviceAccountMaxTokenExpirationMs: setting({
    flag: '--service-account-max-token-expiration',
    env: 'ORCH_SERVICE_ACCOUNT_MAX_TOKEN_EXPIRATION',
    type: duration,
    default: '0s',
    group,
    doc: 'Maximum lifetime of a requested token, from 1h to 2^32s; longer requests are shortened to it. 0 means no limit.',
  }),
  serviceAccountExtendTokenExpiration: setting({
    flag: '--service-account-extend-token-expiration',
    env: 'ORCH_SERVICE_ACCOUNT_EXTEND_TOKEN_EXPIRATION',
    type: bool,
    default: 'true',
    group,
    doc: 'Extends the tokens that projected volumes of pods request to one year; use after the requested time is recorded in audit events.',
  }),
  apiAudiences: setting({
    flag: '--api-audiences',
    env: 'ORCH_API_AUDIENCES',
    type: list,
    default: '',
    defaultDoc: 'those of --service-account-issuer',
    group,
    doc: 'Audiences of tokens for this server.',
  }),
}
