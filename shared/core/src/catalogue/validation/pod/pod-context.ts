import type { IsGateOn } from '../../../feature-gates.ts'
import type { FieldError } from '../../../meta/status.ts'
import type { Names } from '../../../names.ts'
import type { Part } from '../../../validation/part.ts'
import type { RuleBook, RuleContext } from '../../../validation/rule-book.ts'

/** The valid volumes of a Pod by name, for checking mounts. */
export type Volumes = ReadonlyMap<string, Part>

/** Data of a Pod that the rules of its containers and volumes share. */
export class PodContext implements RuleContext {
  readonly body: unknown
  readonly object: Part
  readonly live: Part | undefined
  readonly names: Names
  readonly isGateOn: IsGateOn
  readonly level: number
  readonly rules: RuleBook
  readonly declared: FieldError[]
  /** Empty for a template without a name. */
  readonly podName: string
  volumes: Volumes = new Map()
  /** Names of the resource claims that the containers may use. */
  claims: ReadonlySet<string> = new Set()
  /** True if the Pod uses its own user namespace. */
  hasOwnUsers = false
  /** The restart policy of the Pod; '' for none. */
  restartPolicy = ''
  /** The Pod's grace period for termination; undefined if absent. */
  graceSeconds: number | bigint | undefined

  constructor({ body, object, live, names, isGateOn, level, rules, declared }: RuleContext, podName: string) {
    this.body = body
    this.object = object
    this.live = live
    this.names = names
    this.isGateOn = isGateOn
    this.level = level
    this.rules = rules
    this.declared = declared
    this.podName = podName
  }
}

/** The volumes of the current Pod. */
export function volumesIn(context: RuleContext): Volumes {
  return context instanceof PodContext ? context.volumes : new Map()
}

/** The names of the current Pod's resource claims. */
export function claimsIn(context: RuleContext): ReadonlySet<string> {
  return context instanceof PodContext ? context.claims : new Set()
}

/** The current Pod's grace period for termination; undefined if absent. */
export function graceSecondsIn(context: RuleContext): number | bigint | undefined {
  return context instanceof PodContext ? context.graceSeconds : undefined
}

/** True if the current Pod uses its own user namespace. */
export function hasOwnUsers(context: RuleContext): boolean {
  return context instanceof PodContext && context.hasOwnUsers
}
