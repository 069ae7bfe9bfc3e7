import type { IsGateOn } from '../../../feature-gates.ts'
import type { FieldError } from '../../../meta/status.ts'
import type { Names } from '../../../names.ts'
import type { Part } from '../../../validation/part.ts'
import type { RuleBook, RuleContext } from '../../../validation/rule-book.ts'

/** The sound volumes of a Pod by name, so that mounts can be looked up. */
export type Volumes = ReadonlyMap<string, Part>

/** The shared data of one Pod's containers and volumes. */
export class PodContext implements RuleContext {
  readonly body: unknown
  readonly object: Part
  readonly live: Part | undefined
  readonly names: Names
  readonly isGateOn: IsGateOn
  readonly level: number
  readonly rules: RuleBook
  readonly declared: FieldError[]
  /** Empty where a template has no name yet. */
  readonly podName: string
  volumes: Volumes = new Map()
  /** Names of the resource claims that containers may use. */
  claims: ReadonlySet<string> = new Set()
  /** The Pod has users of its own. */
  hasOwnUsers = false
  /** The restart policy of the Pod; '' for none. */
  restartPolicy = ''
  /** Time of the containers to end; undefined if it is absent. */
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

/** The volumes of the Pod whose containers are looked at. */
export function volumesIn(context: RuleContext): Volumes {
  return context instanceof PodContext ? context.volumes : new Map()
}

/** The names of the resource claims of the Pod whose containers are looked at. */
export function claimsIn(context: RuleContext): ReadonlySet<string> {
  return context instanceof PodContext ? context.claims : new Set()
}

/** The time that the containers have to end of the Pod that is looked at; undefined if it is absent. */
export function graceSecondsIn(context: RuleContext): number | bigint | undefined {
  return context instanceof PodContext ? context.graceSeconds : undefined
}

/** True if the Pod whose containers are looked at has users of its own. */
export function hasOwnUsers(context: RuleContext): boolean {
  return context instanceof PodContext && context.hasOwnUsers
}
