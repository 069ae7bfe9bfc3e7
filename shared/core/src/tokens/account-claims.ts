import { isJsonObject } from '../json/member.ts'
import { domainLabel, type Names } from '../names.ts'

/** An object named in a token. */
interface ClaimedObject {
  readonly name: string
  readonly uid: string
}

/** The claims of a service account's token. */
export interface AccountClaims {
  readonly namespace: string
  readonly account: ClaimedObject
  /** The object whose deletion invalidates the token. */
  readonly bound?: ({ readonly kind: 'Pod' | 'Secret' | 'Node' } & ClaimedObject) | undefined
  /** The node of the bound Pod. Its uid is '' if the node does not exist. */
  readonly node?: ClaimedObject | undefined
  /** Seconds since 1970 after which using the token causes a warning. */
  readonly warnAfter?: number | undefined
}

/** The claims of a token in a Secret, which never expires. */
export interface SecretClaims {
  readonly namespace: string
  readonly account: ClaimedObject
  readonly secretName: string
}

/** The user name of a service account. */
export function accountUserName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** The groups of a service account. */
export function accountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

export function secretTokenIssuer({ serverServiceName }: Names): string {
  return `${serverServiceName}/serviceaccount`
}

/** The private claims of a requested service account token, by claim name. */
export function printAccountClaims({ labelDomain }: Names, { namespace, account, bound, node, warnAfter }: AccountClaims): object {
  return {
    [labelDomain]: {
      namespace,
      ...(node === undefined ? {} : { node: node.uid === '' ? { name: node.name } : { name: node.name, uid: node.uid } }),
      ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
      serviceaccount: { name: account.name, uid: account.uid },
      ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
    },
  }
}

/** Parses the private claims of such a token; undefined if they are invalid. */
export function parseAccountClaims({ labelDomain }: Names, payload: Readonly<Record<string, unknown>>): AccountClaims | undefined {
  const claims = payload[labelDomain]
  if (!isJsonObject(claims)) return undefined
  const { namespace, warnafter } = claims
  const account = parseObject(claims['serviceaccount'])
  if (typeof namespace !== 'string' || namespace === '' || account === undefined) return undefined
  const { pod, node: nodeClaim } = claims
  const node = pod === undefined || nodeClaim === undefined ? undefined : parseNode(nodeClaim)
  const bound = parseBound(pod === undefined ? claims : { ...claims, node: undefined })
  if (bound === 'malformed' || node === 'malformed') return undefined
  return { namespace, account, bound, node, warnAfter: typeof warnafter === 'number' ? warnafter : undefined }
}

/** The object that the token is bound to; undefined if it is not bound. */
function parseBound(claims: Readonly<Record<string, unknown>>): AccountClaims['bound'] | 'malformed' {
  const [claimed, ...more] = (['Pod', 'Secret', 'Node'] as const).filter((kind) => claims[kind.toLowerCase()] !== undefined)
  if (claimed === undefined) return undefined
  const object = parseObject(claims[claimed.toLowerCase()])
  return object === undefined || more.length > 0 ? 'malformed' : { kind: claimed, ...object }
}

/** The node of a Pod; its uid may be absent. */
function parseNode(value: unknown): ClaimedObject | 'malformed' {
  if (!isJsonObject(value)) return 'malformed'
  const { name, uid = '' } = value
  return typeof name === 'string' && name !== '' && typeof uid === 'string' ? { name, uid } : 'malformed'
}

/** The type of Secrets with a service account token. */
export function secretTokenType(names: Names): string {
  return domainLabel(names, 'service-account-token')
}

/** The private claims of a token in a Secret, by claim name. */
export function printSecretClaims(names: Names, { namespace, account, secretName }: SecretClaims): Record<string, string> {
  return {
    [secretClaim(names, 'namespace')]: namespace,
    [secretClaim(names, 'secret.name')]: secretName,
    [secretClaim(names, 'service-account.name')]: account.name,
    [secretClaim(names, 'service-account.uid')]: account.uid,
  }
}

/** Parses the private claims of a token in a Secret; undefined if some are missing. */
export function parseSecretClaims(names: Names, payload: Readonly<Record<string, unknown>>): SecretClaims | undefined {
  const text = (name: string): string => {
    const value = payload[secretClaim(names, name)]
    return typeof value === 'string' ? value : ''
  }
  const claims = {
    namespace: text('namespace'),
    secretName: text('secret.name'),
    account: { name: text('service-account.name'), uid: text('service-account.uid') },
  }
  const isWhole = claims.namespace !== '' && claims.secretName !== '' && claims.account.name !== '' && claims.account.uid !== ''
  return isWhole ? claims : undefined
}

function secretClaim(names: Names, name: string): string {
  return domainLabel(names, `serviceaccount/${name}`)
}

function parseObject(value: unknown): ClaimedObject | undefined {
  if (!isJsonObject(value)) return undefined
  const { name, uid } = value
  return typeof name === 'string' && name !== '' && typeof uid === 'string' && uid !== '' ? { name, uid } : undefined
}
