import type { Attributes } from '@orch/core/contracts'
import { goQuote, jsonEqual } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import { parseStored } from '@orch/core/schema'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { admissionRuleFor, KeptObjects } from './objects.ts'
import { podOf, type Toleration, withSpec } from './pod.ts'
import { mergeTolerations } from './tolerations.ts'

interface RuntimeClass {
  readonly overhead: Readonly<Record<string, string>> | undefined
  readonly nodeSelector: Readonly<Record<string, string>>
  readonly tolerations: readonly Toleration[]
}

const differs = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

/** RuntimeClass: a Pod gets the overhead of its class, and is scheduled to nodes that support the class. */
export function runtimeClass(needs: PluginNeeds): Plugin {
  const classes = new KeptObjects({ group: domainGroup(needs.catalogue.names, 'node'), plural: 'runtimeclasses' }, classOf, needs)
  /** A Pod without a class is decided at once; a refusal is based on the current state in storage. */
  const decide = (attributes: Attributes, decideBy: (found: RuntimeClass | undefined) => Verdict): Verdict | Promise<Verdict> => {
    const name = podOf(attributes).spec.runtimeClassName
    if (name == null) return decideBy(undefined)
    const key = classes.keyOf(name)
    const known = classes.get(key)
    const verdict = known === undefined ? undefined : decideBy(known)
    if (verdict !== undefined && verdict.kind !== 'denied') return verdict
    return classes.latest(key).then((latest) => {
      if (latest !== undefined) return decideBy(latest)
      return denied(forbid(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`))
    })
  }
  return {
    admissionRules: [admissionRuleFor('*', ['CREATE'], '', ['pods'])],
    followed: classes,
    mutate: (attributes, { reinvocation: { isSecondRound } }) =>
      decide(attributes, (found) => (found === undefined ? allowed : completed(attributes, found, isSecondRound))),
    validate: (attributes) => decide(attributes, (found) => checkOverhead(attributes, found)),
    looksOnly: () => true,
    close: () => classes.close(),
  }
}

function classOf(value: Uint8Array): RuntimeClass {
  const { overhead, scheduling } = parseStored('node/v1.RuntimeClass', value)
  return { overhead: overhead?.podFixed, nodeSelector: scheduling?.nodeSelector ?? {}, tolerations: scheduling?.tolerations ?? [] }
}

/** A writer may not set values that the class determines; values from this plugin's first round stay. */
function completed(attributes: Attributes, { overhead, nodeSelector, tolerations }: RuntimeClass, isSecondRound: boolean): Verdict {
  const pod = podOf(attributes)
  const given = pod.spec.overhead
  if (overhead !== undefined && given != null && !(isSecondRound && jsonEqual(given, overhead))) {
    const name = JSON.stringify(pod.spec.runtimeClassName)
    return denied(
      forbid(attributes, jsonEqual(given, overhead) ? `pod rejected: Overhead is set by RuntimeClass ${name}, not by the Pod` : differs),
    )
  }
  const selected = pod.spec.nodeSelector ?? {}
  for (const [key, wanted] of Object.entries(nodeSelector)) {
    const own = selected[key]
    if (own === undefined || own === wanted) continue
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${wanted}; pod.spec.nodeSelector[${key}] = ${own}`
    return denied(forbid(attributes, why))
  }
  const changes = {
    ...(overhead === undefined ? {} : { overhead }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector: { ...selected, ...nodeSelector } }),
    ...(tolerations.length === 0 ? {} : { tolerations: mergeTolerations(pod.spec.tolerations ?? [], tolerations) }),
  }
  return Object.keys(changes).length === 0 ? allowed : { kind: 'allowed', object: withSpec(pod, changes) }
}

function checkOverhead(attributes: Attributes, found: RuntimeClass | undefined): Verdict {
  const given = podOf(attributes).spec.overhead
  if (found?.overhead !== undefined) return jsonEqual(given ?? {}, found.overhead) ? allowed : denied(forbid(attributes, differs))
  if (given == null || Object.keys(given).length === 0) return allowed
  return denied(forbid(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'))
}
