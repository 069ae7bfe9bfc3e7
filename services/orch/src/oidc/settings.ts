import { setting, settingTypes } from '@orch/platform'

const { list, path, string } = settingTypes
const group = 'Authentication'

/** ID tokens of an OpenID provider. */
export const oidcSettings = {
  oidcIssuerUrl: setting({
    flag: '--oidc-issuer-url',
    env: 'ORCH_OIDC_ISSUER_URL',
    type: string,
    default: '',
    group,
    doc: 'OpenID provider whose ID tokens are accepted: an https:// address, one level above /.well-known/openid-configuration.',
  }),
  oidcClientId: setting({
    flag: '--oidc-client-id',
    env: 'ORCH_OIDC_CLIENT_ID',
    type: string,
    default: '',
    group,
    doc: 'Client for which all ID tokens must be. Needed with --oidc-issuer-url.',
  }),
  oidcCaFile: setting({
    flag: '--oidc-ca-file',
    env: 'ORCH_OIDC_CA_FILE',
    type: path,
    default: '',
    group,
    doc: "Authorities of the provider's web certificate; by default those of the machine.",
  }),
  oidcUsernameClaim: setting({
    flag: '--oidc-username-claim',
    env: 'ORCH_OIDC_USERNAME_CLAIM',
    type: string,
    default: 'sub',
    group,
    doc: "Claim that is the user's name.",
  }),
  oidcUsernamePrefix: setting({
    flag: '--oidc-username-prefix',
    env: 'ORCH_OIDC_USERNAME_PREFIX',
    type: string,
    default: '',
    group,
    doc: 'Goes before the names of users, so that they meet no others. Without it, claims other than email get the issuer and a #; - is for none at all.',
  }),
  oidcGroupsClaim: setting({
    flag: '--oidc-groups-claim',
    env: 'ORCH_OIDC_GROUPS_CLAIM',
    type: string,
    default: '',
    group,
    doc: "Claim that holds the user's groups, a list of texts; by default there are none.",
  }),
  oidcGroupsPrefix: setting({
    flag: '--oidc-groups-prefix',
    env: 'ORCH_OIDC_GROUPS_PREFIX',
    type: string,
    default: '',
    group,
    doc: 'Goes before the names of groups. Without it a provider may put users into any group, such as system:masters.',
  }),
  oidcRequiredClaim: setting({
    flag: '--oidc-required-claim',
    env: 'ORCH_OIDC_REQUIRED_CLAIM',
    type: list,
    default: '',
    group,
    doc: 'A claim and the text that it must have, such as azp=deployer. May be given several times; all must match.',
  }),
  oidcSigningAlgs: setting({
    flag: '--oidc-signing-algs',
    env: 'ORCH_OIDC_SIGNING_ALGS',
    type: list,
    default: 'RS256',
    group,
    doc: 'Signature algorithms that are accepted: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  }),
}
