import { type Implementation, type Implementations, of, on } from '../implementation.ts'
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

/** A function of a value of a class and a text. */
function withText<T extends Opaque>(Class: abstract new (...given: never[]) => T, use: (value: T, text: string) => Value): Implementation {
  return on(Class, (value, text) => (typeof text === 'string' ? use(value, text) : noSuchOverload()), 2)
}

/** Replaces a part of a question about a resource. */
function withPart(part: Exclude<keyof Question<'resource'>, 'kind' | 'group' | 'resource' | 'serviceAccount'>): Implementation {
  return withText(ResourceCheck, ({ content }, text) => new ResourceCheck({ ...content, question: { ...content.question, [part]: text } }))
}

/** The functions of the authorizer. */
export const authorizerFunctions: Implementations = {
  path: withText(Authorizer, ({ content: { authorize, who } }, path) =>
    path === '' ? new CelError('path must not be empty') : new PathCheck({ authorize, question: { kind: 'path', path, ...who } }),
  ),
  group: withText(Authorizer, ({ content }, group) => new GroupCheck({ ...content, group })),
  serviceAccount: of(3, (value, namespace, name) => {
    if (!(value instanceof Authorizer) || typeof namespace !== 'string' || typeof name !== 'string') return noSuchOverload()
    if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) return new CelError('Invalid service account name')
    if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)) return new CelError('Invalid service account namespace')
    return new Authorizer(value.content.authorize, { namespace, name })
  }),
  resource: withText(GroupCheck, ({ content: { authorize, who, group } }, resource) => {
    const question = { kind: 'resource', group, resource, subresource: '', namespace: '', name: '', ...who } as const
    return new ResourceCheck({ authorize, question })
  }),
  subresource: withPart('subresource'),
  namespace: withPart('namespace'),
  name: withPart('name'),
  fieldSelector: withPart('fieldSelector'),
  labelSelector: withPart('labelSelector'),
  check: of(2, (value, verb) => {
    if (!(value instanceof PathCheck || value instanceof ResourceCheck) || typeof verb !== 'string') return noSuchOverload()
    const { authorize, question } = value.content
    return new Decision(authorize({ ...question, verb }))
  }),
  allowed: on(Decision, ({ content }) => content.isAllowed),
  reason: on(Decision, ({ content }) => content.reason),
  errored: on(Decision, ({ content }) => content.error !== undefined),
  error: on(Decision, ({ content }) => content.error ?? ''),
}
