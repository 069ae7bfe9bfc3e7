import { ref } from '../../../description/values.ts'
import { compareQuantities, type FieldError, joinTexts, type LevelText, parseQuantity, textSince } from '../../../meta/index.ts'
import { domainLabel, type Names } from '../../../names.ts'
import { qosClassOf } from '../../../quota/pod-amounts.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { differenceOf } from '../../../validation/object-difference.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { isGiven } from '../checks.ts'
import { validateContent } from './pod.ts'
import { isSidecar } from './restart-policy.ts'

/** Validates ephemeral containers that are added to a running Pod; existing ones are immutable. */
export function validateAddedContainers(pod: Part, live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const errors = validateContent(pod, context)
  const after = new Map(itemsOf(partOf(pod, 'spec'), 'ephemeralContainers').map((container) => [textOf(container, 'name'), container]))
  for (const container of itemsOf(partOf(live, 'spec'), 'ephemeralContainers')) {
    const name = textOf(container, 'name')
    const kept = after.get(name)
    if (kept !== undefined && isSame(kept, container)) continue
    const refuse = (what: LevelText): void => {
      const detail = joinTexts([`existing ephemeral containers ${JSON.stringify(name)} may not be `, what])
      errors.push(forbiddenValue('spec.ephemeralContainers', detail))
    }
    const difference = differenceOf(ref('core/v1.EphemeralContainer'), container, kept)
    refuse(kept === undefined ? 'removed\n' : joinTexts(['changed', textSince(34, { before: '\n', after: difference })]))
  }
  return errors
}

/** Validates a resize of a Pod. Only cpu and memory may change, and no amount may be removed. KEP-1287. */
export function validateResize(pod: Part, live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  const [spec, before] = [partOf(pod, 'spec'), partOf(live, 'spec')]
  if (context.level < 35 && hasAmounts(before)) return [forbiddenValue('[]', 'pods with pod-level resources cannot be resized')]
  const kind = unresizableKind(live, names)
  if (kind !== undefined) return [forbiddenValue('[]', `${kind} pods cannot be resized`)]
  const errors = validateContent(pod, context)
  const qosClass = textOf(partOf(live, 'status'), 'qosClass') || qosClassOf(before)
  if (qosClassOf(spec) !== qosClass) {
    errors.push(invalidValue('spec', qosClass, 'Pod QOS Class may not change as a result of resizing'))
  }
  if (!canNodeResize(partOf(live, 'status'))) errors.push(forbiddenValue('spec', 'Pod running on node without support for resize'))
  if (hasAmounts(before) || hasAmounts(spec)) {
    if (!context.isGateOn('InPlacePodLevelResourcesVerticalScaling')) return [...errors, forbiddenValue('[]', ofPodLevel)]
    validatePodLevel(errors, spec, before)
  }
  const moved = ['containers', 'initContainers'].flatMap((list) => findMoved(itemsOf(spec, list), itemsOf(before, list), list))
  if (moved.length > 0) return [...errors, ...moved]
  const resizesInit = context.isGateOn('InPlacePodVerticalScalingInitContainers')
  for (const list of ['initContainers', 'containers']) {
    for (const [index, container] of itemsOf(spec, list).entries()) {
      const old = itemsOf(before, list)[index] ?? {}
      if (list === 'containers' || isSidecar(container) || resizesInit) {
        validateContainer(errors, { container, old, at: `spec.${list}[${index}]` }, context)
        if (list === 'initContainers' && !isSidecar(container) && !isSame(container, old))
          refuseRestart(errors, container, `spec.${list}[${index}]`)
      } else if (!isSame(container, old)) errors.push(forbiddenValue('spec', 'resources for non-sidecar init containers are immutable'))
    }
  }
  return errors
}

function hasAmounts(spec: Part): boolean {
  const resources = partOf(spec, 'resources')
  return ['requests', 'limits'].some((list) => Object.keys(partOf(resources, list)).length > 0)
}

/** The first level at which a resize of init containers is possible. */
const initSince = 36

const ofPodLevel =
  'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled'

function unresizableKind(live: Part | undefined, names: Names): string | undefined {
  if (isGiven(partOf(partOf(live, 'metadata'), 'annotations'), domainLabel(names, 'config.mirror'))) return 'static'
  return textOf(partOf(partOf(live, 'spec'), 'os'), 'name') === 'windows' ? 'windows' : undefined
}

/** True if the node supports resizing, which a running container shows by reporting its resources. */
function canNodeResize(status: Part): boolean {
  const running = itemsOf(status, 'containerStatuses').find((container) => isGiven(partOf(container, 'state'), 'running'))
  return running === undefined || isGiven(running, 'resources')
}

function findMoved(after: readonly Part[], before: readonly Part[], list: string): FieldError[] {
  if (after.length !== before.length) return [forbiddenValue(`spec.${list}`, `${list} may not be added or removed on resize`)]
  return after.flatMap((container, index) =>
    container['name'] === before[index]?.['name']
      ? []
      : [forbiddenValue(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  )
}

function validatePodLevel(errors: FieldError[], spec: Part, before: Part): void {
  const [resources, old] = [optionalPart(spec, 'resources'), optionalPart(before, 'resources')]
  if (old !== undefined && resources === undefined) {
    errors.push(forbiddenValue('spec.resources', 'pod-level resources cannot be removed'))
    return
  }
  refuseRemoved(errors, { resources, old, path: 'spec.resources', what: 'pod-level resource' })
  if (!isSame(withoutAmounts(resources), withoutAmounts(old))) {
    errors.push(forbiddenValue('spec', 'only cpu and memory resources are mutable at pod-level'))
  }
}

interface ResizedContainer {
  readonly container: Part
  readonly old: Part
  readonly at: string
}

/** At 1.33 a limit of memory may be lowered or added only with a restart. */
function refuseLessMemory(errors: FieldError[], { container, old, at }: ResizedContainer): void {
  const policy = itemsOf(container, 'resizePolicy').find(({ resourceName }) => resourceName === 'memory')
  const [limit, before] = [container, old].map((one) => parseQuantity(textOf(partOf(partOf(one, 'resources'), 'limits'), 'memory')))
  if (policy?.['restartPolicy'] === 'RestartContainer' || !limit || (before && compareQuantities(limit, before) >= 0)) return
  const detail = `memory limits cannot be ${before ? 'decreased' : 'added'} unless resizePolicy is RestartContainer`
  errors.push(forbiddenValue(`${at}.resources.limits[memory]`, detail))
}

function validateContainer(errors: FieldError[], { container, old, at }: ResizedContainer, { level }: RuleContext): void {
  const [resources, before] = [optionalPart(container, 'resources'), optionalPart(old, 'resources')]
  refuseRemoved(errors, { resources, old: before, path: `${at}.resources`, what: 'resource' })
  if (level === 33) refuseLessMemory(errors, { container, old, at })
  const rest = { ...container, resources: withoutAmounts(resources) }
  if (isSame(rest, { ...old, resources: withoutAmounts(before) })) return
  const isMain = at.startsWith('spec.containers')
  const kinds = level < initSince ? 'sidecar containers ' : 'init or sidecar containers '
  const detail = `only cpu and memory resources ${isMain ? '' : `for ${kinds}`}are mutable`
  errors.push(forbiddenValue(isMain || level < initSince ? 'spec' : at, detail))
}

function refuseRestart(errors: FieldError[], container: Part, at: string): void {
  const detail = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
  for (const { restartPolicy } of itemsOf(container, 'resizePolicy'))
    if (restartPolicy === 'RestartContainer') errors.push(forbiddenValue(at, detail))
}

interface Removal {
  readonly resources: Part | undefined
  readonly old: Part | undefined
  readonly path: string
  readonly what: string
}

function refuseRemoved(errors: FieldError[], { resources, old, path, what }: Removal): void {
  for (const list of ['requests', 'limits']) {
    const kept = partOf(resources, list)
    if (Object.keys(partOf(old, list)).every((name) => isGiven(kept, name))) continue
    errors.push(forbiddenValue(`${path}.${list}`, `${what} ${list} cannot be removed`))
  }
}

/** The resources without the amounts that may change. */
function withoutAmounts(resources: Part | undefined): Part {
  const without = (list: string): Part => {
    const { cpu: _cpu, memory: _memory, ...rest } = partOf(resources, list)
    return rest
  }
  return { ...resources, limits: without('limits'), requests: without('requests') }
}
