import type { Part } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'

/** The valid volumes of a Pod by name, for checking mounts. */
export type Volumes = ReadonlyMap<string, Part>

/** Data of a Pod that the rules of its containers and volumes share. */
export interface PodContext extends RuleContext {
  /** Empty for a template without a name. */
  readonly podName: string
  volumes: Volumes
  /** Names of the resource claims that the containers may use. */
  claims: ReadonlySet<string>
  /** True if the Pod uses its own user namespace. */
  hasOwnUsers: boolean
  /** The restart policy of the Pod; '' for none. */
  restartPolicy: string
  /** The Pod's grace period for termination; undefined if absent. */
  graceSeconds: number | bigint | undefined
}

/** The context of a Pod whose volumes and claims are not checked yet. */
export function createPodContext(context: RuleContext, podName: string): PodContext {
  return { ...context, podName, volumes: new Map(), claims: new Set(), hasOwnUsers: false, restartPolicy: '', graceSeconds: undefined }
}

function isOfPod(context: RuleContext): context is PodContext {
  return 'podName' in context
}

/** The volumes of the current Pod. */
export function volumesIn(context: RuleContext): Volumes {
  return isOfPod(context) ? context.volumes : new Map()
}

/** The names of the current Pod's resource claims. */
export function claimsIn(context: RuleContext): ReadonlySet<string> {
  return isOfPod(context) ? context.claims : new Set()
}

/** The current Pod's grace period for termination; undefined if absent. */
export function graceSecondsIn(context: RuleContext): number | bigint | undefined {
  return isOfPod(context) ? context.graceSeconds : undefined
}

/** True if the current Pod uses its own user namespace. */
export function hasOwnUsers(context: RuleContext): boolean {
  return isOfPod(context) && context.hasOwnUsers
}
