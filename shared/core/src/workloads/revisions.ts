import type { ObjectMeta } from '../meta/object-meta.ts'
import type { BuiltIn } from '../schema/built-in.ts'

/** A stored template of a StatefulSet or DaemonSet. */
export type ControllerRevision = BuiltIn<'apps/v1.ControllerRevision'>

/** Maximum length of the owner's name within a revision's name. */
const ownerLengthMax = 223

/** Sorts revisions from oldest to newest: by number, then by creation, then by name. */
export function inRevisionOrder(revisions: Iterable<ControllerRevision>): ControllerRevision[] {
  const textOf = ({ metadata: { creationTimestamp, name } }: ControllerRevision) => `${creationTimestamp ?? ''} ${name}`
  return [...revisions].sort((left, right) => (left.revision ?? 0) - (right.revision ?? 0) || (textOf(left) < textOf(right) ? -1 : 1))
}

/** The choice of a revision for the current template. */
export type RevisionChoice =
  | { readonly kind: 'keep'; readonly revision: ControllerRevision }
  /** A former template is used again: its revision becomes the newest. */
  | { readonly kind: 'raise'; readonly revision: ControllerRevision; readonly to: number }
  | { readonly kind: 'create'; readonly number: number }

/**
 * Keeps the newest revision if it equals the template. Otherwise raises the newest equal former revision to the next number, or else creates
 * a revision (WL-STS-24).
 *
 *   numbers 1, 2, 3; 3 is equal    keep 3
 *   numbers 1, 2, 3; 1 is equal    raise 1 to 4
 *   numbers 1, 2, 3; none          create 4
 *
 * @param revisions - Ordered by {@link inRevisionOrder}.
 */
export function chooseRevision(
  revisions: readonly ControllerRevision[],
  isEqual: (revision: ControllerRevision) => boolean,
): RevisionChoice {
  const newest = revisions.at(-1)
  const equal = revisions.findLast(isEqual)
  const next = (newest?.revision ?? 0) + 1
  if (equal === undefined) return { kind: 'create', number: next }
  return equal === newest ? { kind: 'keep', revision: equal } : { kind: 'raise', revision: equal, to: next }
}

interface History {
  /** Names of revisions in use. */
  readonly live: ReadonlySet<string>
  /** Maximum number of other revisions to keep. */
  readonly limit: number
}

/** The revisions beyond the history limit, oldest first (WL-STS-39). */
export function surplusRevisions(revisions: readonly ControllerRevision[], { live, limit }: History): ControllerRevision[] {
  const former = revisions.filter(({ metadata: { name = '' } }) => !live.has(name))
  return limit < 0 ? [] : former.slice(0, Math.max(0, former.length - limit))
}

/** The template that a revision restores; undefined if its data has another form. */
export function templateOfRevision({ data }: ControllerRevision): Template | undefined {
  const { spec } = (data ?? {}) as { readonly spec?: { readonly template?: Template & { readonly $patch?: string } } }
  if (spec?.template === undefined) return undefined
  const { $patch: _, ...template } = spec.template
  return template
}

type Template = BuiltIn<'core/v1.PodTemplateSpec'>

interface RevisionSource {
  readonly owner: ObjectMeta
  readonly template: Template
  readonly hash: string
  readonly number: number
  /** JSON text. */
  readonly data: string
  readonly hashLabel: string
}

/** A new revision with the template's labels and the hash, and the owner's annotations (WL-STS-23). It has no owner reference yet. */
export function newRevision({ owner, template, hash, number, data, hashLabel }: RevisionSource): ControllerRevision {
  const { name = '', namespace, annotations } = owner
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name.slice(0, ownerLengthMax)}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations && { annotations }),
    },
    data: JSON.parse(data),
    revision: number,
  }
}
