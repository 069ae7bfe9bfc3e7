import type { RequestInfo } from './request-info.ts'

/** A test of texts, such as a regular expression. */
interface TextTest {
  readonly source: string
  test(text: string): boolean
}

/** A text: equal to a string, or matched by a regular expression. */
export type TextMatch = string | TextTest

/** A pattern of requests by facts known before they are served. An undefined member matches every request. */
export interface RequestMatch {
  /** Name of the user, after impersonation. */
  readonly user?: TextMatch | undefined
  /** The header `User-Agent`. */
  readonly agent?: TextMatch | undefined
  /** One verb or several: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other paths the method. */
  readonly verb?: string | readonly string[] | undefined
  /** Plural, with its group where that matters: `pods`, `deployments.apps`. */
  readonly resource?: string | undefined
  /** '' for the object itself. Undefined for the object and its subresources. */
  readonly subresource?: string | undefined
  readonly namespace?: TextMatch | undefined
  /** Name in the path. A create has none there. */
  readonly name?: TextMatch | undefined
  /** Path without query, for non-resource requests: `/readyz`. */
  readonly path?: TextMatch | undefined
}

/** The facts of a request that a match reads. */
export interface RequestFacts {
  readonly user: string
  readonly agent: string
  readonly info: RequestInfo
}

const members = ['user', 'agent', 'verb', 'resource', 'subresource', 'namespace', 'name', 'path']

/** A match as a function. An unknown member throws a TypeError at run time. */
export function compileMatch(match: RequestMatch, others: readonly string[] = []): (facts: RequestFacts) => boolean {
  const unknown = Object.keys(match).find((member) => !members.includes(member) && !others.includes(member))
  if (unknown !== undefined)
    throw new TypeError(`${unknown} is no member of a match: expected one of ${[...members, ...others].join(', ')}`)
  const { user, agent, verb, resource, subresource, namespace, name, path } = match
  const tests: ((facts: RequestFacts) => boolean)[] = []
  if (verb !== undefined) {
    const verbs = typeof verb === 'string' ? [verb] : verb
    tests.push(({ info }) => verbs.includes(info.verb))
  }
  if (resource !== undefined) {
    const [plural, ...group] = resource.split('.')
    const [wanted, inGroup] = [plural, group.length === 0 ? undefined : group.join('.')]
    tests.push(({ info }) => info.kind === 'resource' && info.resource === wanted && (inGroup === undefined || info.group === inGroup))
  }
  if (subresource !== undefined) tests.push(({ info }) => info.kind === 'resource' && info.subresource === subresource)
  if (user !== undefined) tests.push((facts) => matchesText(user, facts.user))
  if (agent !== undefined) tests.push((facts) => matchesText(agent, facts.agent))
  if (namespace !== undefined) tests.push(({ info }) => info.kind === 'resource' && matchesText(namespace, info.namespace))
  if (name !== undefined) tests.push(({ info }) => info.kind === 'resource' && matchesText(name, info.name))
  if (path !== undefined) tests.push(({ info }) => info.kind === 'path' && matchesText(path, info.path))
  return (facts) => tests.every((test) => test(facts))
}

/** A regular expression with a state of its own, such as with the flag g, is read from its beginning. */
export function matchesText(match: TextMatch, text: string): boolean {
  if (typeof match === 'string') return match === text
  if (match instanceof RegExp) match.lastIndex = 0
  return match.test(text)
}
