import { type ContainerView, containersOf, type PodSpecView, type SecurityContextView } from './pod.ts'

/** A violated rule: `privileged` and `container "a" must not set …`. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** `container "a"` or `containers "a", "b"`. */
export function containersNamed(names: readonly string[]): string {
  return `${plural(names, 'container', 'containers')} ${quoted(names)}`
}

/** Singular or plural. */
export function plural(items: { readonly length: number }, one: string, several: string): string {
  return items.length === 1 ? one : several
}

/** `"a", "b"`. */
export function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ')
}

/** Without repetitions, in order. */
export function sorted(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].sort()
}

/** Names of the containers that satisfy a condition. */
export function containersWhere(spec: PodSpecView, isBad: (container: ContainerView) => boolean): readonly string[] {
  return containersOf(spec)
    .filter(isBad)
    .map(({ name }) => name)
}

/** The places that set a forbidden value, in a Pod and in containers: `pod and container "a"`; undefined for none. */
export function settersOf(spec: PodSpecView, isBad: (context: SecurityContextView) => boolean): string | undefined {
  const names = containersWhere(spec, ({ securityContext }) => securityContext !== undefined && isBad(securityContext))
  const setters = [
    ...(spec.securityContext !== undefined && isBad(spec.securityContext) ? ['pod'] : []),
    ...(names.length > 0 ? [containersNamed(names)] : []),
  ]
  return setters.length === 0 ? undefined : setters.join(' and ')
}

/** The security contexts of the Pod and of all its containers. */
export function contextsOf(spec: PodSpecView): readonly SecurityContextView[] {
  return [spec.securityContext, ...containersOf(spec).map((container) => container.securityContext)].filter(
    (context) => context !== undefined,
  )
}
