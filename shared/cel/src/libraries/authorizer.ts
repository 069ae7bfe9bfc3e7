import { CelError, noSuchOverload, Opaque, type Value } from '../values/values.ts'

/** A question to the authorizer. */
type AccessRequest =
  | { readonly kind: 'path'; readonly path: string; readonly verb: string; readonly serviceAccount?: ServiceAccount }
  | {
      readonly kind: 'resource'
      readonly group: string
      readonly resource: string
      readonly subresource: string
      readonly namespace: string
      readonly name: string
      readonly verb: string
      readonly fieldSelector?: string
      readonly labelSelector?: string
      readonly serviceAccount?: ServiceAccount
    }

/** A service account whose access is checked instead of the user's. */
export interface ServiceAccount {
  readonly namespace: string
  readonly name: string
}

/** The answer of the caller's authorizer. */
interface AccessDecision {
  readonly isAllowed: boolean
  readonly reason: string
  readonly error?: string
}

/** Decides if a user has access: the service account of the question, otherwise the user of the request. */
export type Authorize = (request: AccessRequest) => AccessDecision

type Draft = Omit<Extract<AccessRequest, { kind: 'resource' }>, 'kind' | 'verb' | 'serviceAccount'>

abstract class AuthorizerValue extends Opaque {
  override equals(other: Opaque): boolean {
    return this === other
  }
}

/** The variable `authorizer`. */
export class Authorizer extends AuthorizerValue {
  override readonly typeName = 'kubernetes.authorization.Authorizer'
  readonly authorize: Authorize
  readonly account: ServiceAccount | undefined

  constructor(authorize: Authorize, account?: ServiceAccount) {
    super()
    this.authorize = authorize
    this.account = account
  }
}

class PathCheck extends AuthorizerValue {
  override readonly typeName = 'kubernetes.authorization.PathCheck'
  readonly authorizer: Authorizer
  readonly path: string

  constructor(authorizer: Authorizer, path: string) {
    super()
    this.authorizer = authorizer
    this.path = path
  }
}

class GroupCheck extends AuthorizerValue {
  override readonly typeName = 'kubernetes.authorization.GroupCheck'
  readonly authorizer: Authorizer
  readonly group: string

  constructor(authorizer: Authorizer, group: string) {
    super()
    this.authorizer = authorizer
    this.group = group
  }
}

/** `authorizer.group(x).resource(y)`, with its further calls. */
export class ResourceCheck extends AuthorizerValue {
  override readonly typeName = 'kubernetes.authorization.ResourceCheck'
  readonly authorizer: Authorizer
  readonly draft: Draft

  constructor(authorizer: Authorizer, draft: Draft) {
    super()
    this.authorizer = authorizer
    this.draft = draft
  }
}

class Decision extends AuthorizerValue {
  override readonly typeName = 'kubernetes.authorization.Decision'
  readonly decision: AccessDecision

  constructor(decision: AccessDecision) {
    super()
    this.decision = decision
  }
}

/** `authorizer.path(path)`. */
export function pathCheck(value: Value, path: Value): Value {
  if (!(value instanceof Authorizer) || typeof path !== 'string') return noSuchOverload()
  return path === '' ? new CelError('path must not be empty') : new PathCheck(value, path)
}

/** `authorizer.group(group)`. */
export function groupCheck(value: Value, group: Value): Value {
  return value instanceof Authorizer && typeof group === 'string' ? new GroupCheck(value, group) : noSuchOverload()
}

/** `authorizer.serviceAccount(namespace, name)`. */
export function serviceAccountCheck(value: Value, namespace: Value, name: Value): Value {
  if (!(value instanceof Authorizer) || typeof namespace !== 'string' || typeof name !== 'string') return noSuchOverload()
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) return new CelError('Invalid service account name')
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)) return new CelError('Invalid service account namespace')
  return new Authorizer(value.authorize, { namespace, name })
}

/** `group.resource(resource)`. */
export function resourceCheck(value: Value, resource: Value): Value {
  if (!(value instanceof GroupCheck) || typeof resource !== 'string') return noSuchOverload()
  return new ResourceCheck(value.authorizer, { group: value.group, resource, subresource: '', namespace: '', name: '' })
}

/** `resource.subresource(x)`, `.namespace(x)`, `.name(x)`, `.fieldSelector(x)`, `.labelSelector(x)`. */
export function withPart(value: Value, part: Exclude<keyof Draft, 'group' | 'resource'>, text: Value): Value {
  if (!(value instanceof ResourceCheck) || typeof text !== 'string') return noSuchOverload()
  return new ResourceCheck(value.authorizer, { ...value.draft, [part]: text })
}

/** `path.check(verb)` and `resource.check(verb)`. */
export function check(value: Value, verb: Value): Value {
  if (typeof verb !== 'string') return noSuchOverload()
  if (value instanceof PathCheck) {
    const { account, authorize } = value.authorizer
    return new Decision(authorize({ kind: 'path', path: value.path, verb, ...(account === undefined ? {} : { serviceAccount: account }) }))
  }
  if (!(value instanceof ResourceCheck)) return noSuchOverload()
  const { account, authorize } = value.authorizer
  return new Decision(authorize({ kind: 'resource', ...value.draft, verb, ...(account === undefined ? {} : { serviceAccount: account }) }))
}

/** `decision.allowed()`, `.reason()`, `.errored()`, `.error()`. */
export function decisionPart(value: Value, part: 'allowed' | 'reason' | 'errored' | 'error'): Value {
  if (!(value instanceof Decision)) return noSuchOverload()
  const { isAllowed, reason, error } = value.decision
  switch (part) {
    case 'allowed':
      return isAllowed
    case 'reason':
      return reason
    case 'errored':
      return error !== undefined
    case 'error':
      return error ?? ''
  }
}
