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

/** A question without its verb. */
type Question<Kind extends AccessRequest['kind']> = Omit<Extract<AccessRequest, { kind: Kind }>, 'verb'>

interface Check<Kind extends AccessRequest['kind']> {
  readonly authorize: Authorize
  readonly question: Question<Kind>
}

/** A value of the library; equal only to itself. */
abstract class AuthorizerValue<Content> extends Opaque {
  readonly content: Content

  constructor(content: Content) {
    super()
    this.content = content
  }

  override equals(other: Opaque): boolean {
    return this === other
  }
}

/** The authorizer of an evaluation, and the service account that it asks about instead of the user. */
interface Asker {
  readonly authorize: Authorize
  readonly who: { readonly serviceAccount?: ServiceAccount }
}

/** The variable `authorizer`. */
export class Authorizer extends AuthorizerValue<Asker> {
  override readonly typeName = 'kubernetes.authorization.Authorizer'

  constructor(authorize: Authorize, serviceAccount?: ServiceAccount) {
    super({ authorize, who: serviceAccount === undefined ? {} : { serviceAccount } })
  }
}

class PathCheck extends AuthorizerValue<Check<'path'>> {
  override readonly typeName = 'kubernetes.authorization.PathCheck'
}

class GroupCheck extends AuthorizerValue<Asker & { readonly group: string }> {
  override readonly typeName = 'kubernetes.authorization.GroupCheck'
}

/** `authorizer.group(x).resource(y)`, with its further calls. */
export class ResourceCheck extends AuthorizerValue<Check<'resource'>> {
  override readonly typeName = 'kubernetes.authorization.ResourceCheck'
}

class Decision extends AuthorizerValue<AccessDecision> {
  override readonly typeName = 'kubernetes.authorization.Decision'
}

/** `authorizer.path(path)`. */
export function pathCheck(value: Value, path: Value): Value {
  if (!(value instanceof Authorizer) || typeof path !== 'string') return noSuchOverload()
  const { authorize, who } = value.content
  return path === '' ? new CelError('path must not be empty') : new PathCheck({ authorize, question: { kind: 'path', path, ...who } })
}

/** `authorizer.group(group)`. */
export function groupCheck(value: Value, group: Value): Value {
  return value instanceof Authorizer && typeof group === 'string' ? new GroupCheck({ ...value.content, group }) : noSuchOverload()
}

/** `authorizer.serviceAccount(namespace, name)`. */
export function serviceAccountCheck(value: Value, namespace: Value, name: Value): Value {
  if (!(value instanceof Authorizer) || typeof namespace !== 'string' || typeof name !== 'string') return noSuchOverload()
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) return new CelError('Invalid service account name')
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)) return new CelError('Invalid service account namespace')
  return new Authorizer(value.content.authorize, { namespace, name })
}

/** `group.resource(resource)`. */
export function resourceCheck(value: Value, resource: Value): Value {
  if (!(value instanceof GroupCheck) || typeof resource !== 'string') return noSuchOverload()
  const { authorize, who, group } = value.content
  const question = { kind: 'resource', group, resource, subresource: '', namespace: '', name: '', ...who } as const
  return new ResourceCheck({ authorize, question })
}

/** `resource.subresource(x)`, `.namespace(x)`, `.name(x)`, `.fieldSelector(x)`, `.labelSelector(x)`. */
export function withPart(
  value: Value,
  part: Exclude<keyof Question<'resource'>, 'kind' | 'group' | 'resource' | 'serviceAccount'>,
  text: Value,
): Value {
  if (!(value instanceof ResourceCheck) || typeof text !== 'string') return noSuchOverload()
  const { authorize, question } = value.content
  return new ResourceCheck({ authorize, question: { ...question, [part]: text } })
}

/** `path.check(verb)` and `resource.check(verb)`. */
export function check(value: Value, verb: Value): Value {
  if (!(value instanceof PathCheck || value instanceof ResourceCheck) || typeof verb !== 'string') return noSuchOverload()
  const { authorize, question } = value.content
  return new Decision(authorize({ ...question, verb }))
}

/** `decision.allowed()`, `.reason()`, `.errored()`, `.error()`. */
export function decisionPart(value: Value, part: 'allowed' | 'reason' | 'errored' | 'error'): Value {
  if (!(value instanceof Decision)) return noSuchOverload()
  const { isAllowed, reason, error } = value.content
  return { allowed: isAllowed, reason, errored: error !== undefined, error: error ?? '' }[part]
}
