import { type FieldError, textSince } from '../../../meta/index.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../../validation/part.ts'
import type { TypeRules } from '../../../validation/rule-book.ts'
import { isGiven, notFoundValue, wordErrors } from '../checks.ts'
import { validateVolumeDevices, validateVolumeMounts } from './container-mounts.ts'
import type { PodContext } from './pod-context.ts'
import { validateProbes } from './probes.ts'
import { validateUsedClaims } from './resource-claims.ts'
import { validateResources } from './resources.ts'
import { isSidecar, validateInitRestartPolicy, validateRestartPolicy } from './restart-policy.ts'

const ofAll: TypeRules = [
  ...['name', 'image', 'terminationMessagePolicy', 'ports', 'env', 'envFrom'],
  ...[validateVolumeMounts, validateVolumeDevices],
  ...['imagePullPolicy', 'resources', 'securityContext'],
  // The list that contains the container decides about these fields.
  { passedOver: ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe', 'restartPolicy', 'restartPolicyRules'] },
]

export const containerRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.Container': ofAll,
  'core/v1.EphemeralContainer': ofAll,
  'core/v1.ContainerPort': ['name', 'containerPort'],
  'core/v1.ResourceRequirements': [validateResources, validateUsedClaims],
}

/** Validates all containers of a Pod. Names are unique across the three lists. */
export function validateAllContainers(errors: FieldError[], spec: Part, path: string, context: PodContext): void {
  const names = new Set<string>()
  validateContainers(errors, itemsOf(spec, 'containers'), { names, path: `${path}.containers`, context })
  const prepared = itemsOf(spec, 'initContainers')
  if (prepared.length > 0) validateInitContainers(errors, prepared, { names, path: `${path}.initContainers`, context })
  const added = itemsOf(spec, 'ephemeralContainers')
  if (added.length > 0) validateEphemeralContainers(errors, spec, { names, path: `${path}.ephemeralContainers`, context })
}

/** The place of a list of containers. */
interface ContainerList {
  /** Names of the containers that were already validated. */
  readonly names: Set<string>
  readonly path: string
  readonly context: PodContext
}

function validateContainers(errors: FieldError[], list: readonly Part[], { names, path, context }: ContainerList): void {
  if (list.length === 0) errors.push(requiredValue(path))
  const validate = context.rules.of('core/v1.Container')
  for (const [index, container] of list.entries()) {
    const at = `${path}[${index}]`
    validate(errors, container, at, context)
    refuseTwice(errors, textOf(container, 'name'), names, at)
    validateServing(errors, container, at, context)
    validateResizePolicy(errors, container, at, context)
    validateRestartPolicy(errors, container, at, context)
  }
  refuseSharedHostPorts(errors, list, path)
}

/** Validates the hooks and probes of a container that runs as long as its Pod. */
function validateServing(errors: FieldError[], container: Part, at: string, context: PodContext): void {
  const lifecycle = optionalPart(container, 'lifecycle')
  if (lifecycle !== undefined) context.rules.of('core/v1.Lifecycle')(errors, lifecycle, `${at}.lifecycle`, context)
  validateProbes(errors, container, at, context)
}

const fieldsOfServing = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']

function validateInitContainers(errors: FieldError[], list: readonly Part[], { names, path, context }: ContainerList): void {
  const validate = context.rules.of('core/v1.Container')
  for (const [index, container] of list.entries()) {
    const at = `${path}[${index}]`
    validate(errors, container, at, context)
    validateInitRestartPolicy(errors, container, at, context)
    validateResizePolicy(errors, container, at, context)
    refuseTwice(errors, textOf(container, 'name'), names, at)
    refuseSharedHostPorts(errors, [container], path)
    if (isSidecar(container)) {
      validateServing(errors, container, at, context)
      continue
    }
    if (context.level >= 36) refuseRestartsOfInit(errors, container, at)
    for (const name of fieldsOfServing) if (isGiven(container, name)) errors.push(forbiddenValue(`${at}.${name}`, notInInit))
  }
}

const notInInit = textSince(28, {
  before: 'may not be set for init containers',
  after: 'may not be set for init containers without restartPolicy=Always',
})

const fieldsOfFullContainers = [
  'ports',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
]

function validateEphemeralContainers(errors: FieldError[], spec: Part, { names, path, context }: ContainerList): void {
  const validate = context.rules.of('core/v1.EphemeralContainer')
  const refuse = (field: string): void => void errors.push(forbiddenValue(field, 'cannot be set for an Ephemeral Container'))
  const targets = new Set([...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')].map((target) => textOf(target, 'name')))
  for (const [index, container] of itemsOf(spec, 'ephemeralContainers').entries()) {
    const at = `${path}[${index}]`
    validate(errors, container, at, context)
    validateResizePolicy(errors, container, at, context)
    refuseTwice(errors, textOf(container, 'name'), names, at)
    for (const name of fieldsOfFullContainers) if (isGiven(container, name)) refuse(`${at}.${name}`)
    if (Object.keys(optionalPart(container, 'resources') ?? {}).length > 0) refuse(`${at}.resources`)
    if (isGiven(container, 'resizePolicy')) refuse(`${at}.resizePolicy`)
    for (const [position, mount] of itemsOf(container, 'volumeMounts').entries()) {
      for (const name of ['subPath', 'subPathExpr']) {
        if (textOf(mount, name) !== '') refuse(`${at}.volumeMounts[${position}].${name}`)
      }
    }
    const target = textOf(container, 'targetContainerName')
    if (target !== '' && !targets.has(target)) errors.push(notFoundValue(`${at}.targetContainerName`, target))
  }
}

function refuseTwice(errors: FieldError[], name: string, names: Set<string>, at: string): void {
  if (name === '') return
  if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name))
  names.add(name)
}

/** A host port can be used once per protocol and address. */
function refuseSharedHostPorts(errors: FieldError[], list: readonly Part[], path: string): void {
  const taken = new Set<string>()
  for (const [index, container] of list.entries()) {
    for (const [position, port] of itemsOf(container, 'ports').entries()) {
      if (!port['hostPort']) continue
      const key = `${textOf(port, 'protocol')}/${textOf(port, 'hostIP')}/${String(port['hostPort'])}`
      if (taken.has(key)) errors.push(duplicateValue(`${path}[${index}].ports[${position}].hostPort`, key))
      taken.add(key)
    }
  }
}

const resources = ['cpu', 'memory']
const policies = ['NotRequired', 'RestartContainer']

const notWithNever = textSince(36, {
  before: "must be 'NotRequired' when `restartPolicy` is 'Never'",
  after: "must be 'NotRequired' when pod `restartPolicy` is 'Never'",
})

/** Validates the resize policies of a container. kube-apiserver reports most errors on the list. */
function validateResizePolicy(errors: FieldError[], container: Part, at: string, { restartPolicy }: PodContext): void {
  const path = `${at}.resizePolicy`
  const seen = new Set<string>()
  for (const [index, item] of itemsOf(container, 'resizePolicy').entries()) {
    const [resource, policy] = [textOf(item, 'resourceName'), textOf(item, 'restartPolicy')]
    if (seen.has(resource)) errors.push(duplicateValue(`${path}[${index}]`, resource))
    seen.add(resource)
    errors.push(...wordErrors(path, resource || undefined, resources), ...wordErrors(path, policy || undefined, policies))
    if (restartPolicy === 'Never' && policy !== 'NotRequired') {
      errors.push(...invalidFor(path, policy, [notWithNever]))
    }
  }
}

/** From 1.36 on an init container cannot be restarted for a resize. */
function refuseRestartsOfInit(errors: FieldError[], container: Part, at: string): void {
  const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
  for (const [index, item] of itemsOf(container, 'resizePolicy').entries()) {
    const policy = textOf(item, 'restartPolicy')
    if (policy === 'RestartContainer') errors.push(invalidValue(`${at}.resizePolicy[${index}].restartPolicy`, policy, detail))
  }
}
