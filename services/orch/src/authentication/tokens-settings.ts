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
    doc: 'Tokens that are accepted until the server ends: lines of token,user,uid and, where wanted, "group,group".',
  }),
  enableBootstrapTokenAuth: setting({
    flag: '--enable-bootstrap-token-auth',
    env: 'ORCH_ENABLE_BOOTSTRAP_TOKEN_AUTH',
    type: bool,
    default: 'false',
    group,
    doc: 'Tokens that lie in Secrets of the type for bootstrap tokens, in the system namespace, are accepted.',
  }),
  serviceAccountKeyFile: setting({
    flag: '--service-account-key-file',
    env: 'ORCH_SERVICE_ACCOUNT_KEY_FILE',
    type: list,
    default: '',
    defaultDoc: 'the file of --tls-private-key-file',
    group,
    doc: 'RSA and ECDSA keys in PEM form, private or public, any number in a file; a token of a service account that one of them has signed is accepted. The key that signs is always among them.',
  }),
  serviceAccountSigningKeyFile: setting({
    flag: '--service-account-signing-key-file',
    env: 'ORCH_SERVICE_ACCOUNT_SIGNING_KEY_FILE',
    type: path,
    default: '',
    group,
    doc: 'Private key that signs tokens of service accounts. Without it orch up makes one in its folder; gateways apart need it, and all the same one.',
  }),
  serviceAccountIssuer: setting({
    flag: '--service-account-issuer',
    env: 'ORCH_SERVICE_ACCOUNT_ISSUER',
    type: list,
    default: '',
    defaultDoc: 'https://<server>.default.svc.cluster.local',
    group,
    doc: 'Who signs tokens of service accounts: the first stands in new ones, all are accepted. At an https:// address others find how to check them.',
  }),
  serviceAccountJwksUri: setting({
    flag: '--service-account-jwks-uri',
    env: 'ORCH_SERVICE_ACCOUNT_JWKS_URI',
    type: string,
    default: '',
    group,
    doc: 'Where others find the public keys, an https:// address; by default /openid/v1/jwks of this server.',
  }),
  serviceAccountLookup: setting({
    flag: '--service-account-lookup',
    env: 'ORCH_SERVICE_ACCOUNT_LOOKUP',
    type: bool,
    default: 'true',
    group,
    doc: 'A token that lies in a Secret is accepted only while the Secret and the service account are there. Other tokens of service accounts are always looked up.',
  }),
  serviceAccountMaxTokenExpirationMs: setting({
    flag: '--service-account-max-token-expiration',
    env: 'ORCH_SERVICE_ACCOUNT_MAX_TOKEN_EXPIRATION',
    type: duration,
    default: '0s',
    group,
    doc: 'Longest life of a token that is asked for, from 1h to 2^32s; whoever asks for more gets this. 0 is no bound.',
  }),
  serviceAccountExtendTokenExpiration: setting({
    flag: '--service-account-extend-token-expiration',
    env: 'ORCH_SERVICE_ACCOUNT_EXTEND_TOKEN_EXPIRATION',
    type: bool,
    default: 'true',
    group,
    doc: 'Tokens that volumes of pods ask for live a year, and their use after the time that was asked for is noted in the audit events.',
  }),
  apiAudiences: setting({
    flag: '--api-audiences',
    env: 'ORCH_API_AUDIENCES',
    type: list,
    default: '',
    defaultDoc: 'those of --service-account-issuer',
    group,
    doc: 'For whom tokens for this server are.',
  }),
}
