import type { FieldError } from '../../../meta/status.ts'
import { checkLabel } from '../../../meta/validate-names.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../../validation/part.ts'
import { checkPortName, checkPortNumber } from '../../../validation/texts.ts'
import { allowChecked, isGiven, notFoundValue, requireChecked, requireOneOf, requireText } from '../checks.ts'
import { validateEnv, validateEnvFrom } from './container-env.ts'
import { type Volumes, validateVolumeDevices, validateVolumeMounts } from './container-mounts.ts'
import { validateLifecycle, validateProbes } from './probes.ts'
import { validateResources } from './resources.ts'
import { validateContainerSecurity } from './security.ts'

const messagePolicies = ['File', 'FallbackToLogsOnError']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const protocols = ['SCTP', 'TCP', 'UDP']

/** All containers of a Pod. Names are unique over the three lists. */
export function validateAllContainers(errors: FieldError[], spec: Part, volumes: Volumes, path: string): void {
  const all = { spec, names: new Set<string>(), volumes }
  validateContainers(errors, itemsOf(spec, 'containers'), all, `${path}.containers`)
  const prepared = itemsOf(spec, 'initContainers')
  if (prepared.length > 0) validateInitContainers(errors, prepared, all, `${path}.initContainers`)
  const added = itemsOf(spec, 'ephemeralContainers')
  if (added.length > 0) validateEphemeralContainers(errors, added, all, `${path}.ephemeralContainers`)
}

/** What the containers of one Pod share. */
interface PodOfContainers {
  readonly spec: Part
  /** Of the containers that were looked at. */
  readonly names: Set<string>
  readonly volumes: Volumes
}

function validateContainers(errors: FieldError[], list: readonly Part[], { names, volumes }: PodOfContainers, path: string): void {
  if (list.length === 0) errors.push(requiredValue(path))
  for (const [index, container] of list.entries()) {
    const at = `${path}[${index}]`
    validateContainer(errors, container, volumes, at)
    refuseTwice(errors, textOf(container, 'name'), names, at)
    const lifecycle = optionalPart(container, 'lifecycle')
    if (lifecycle !== undefined) validateLifecycle(errors, lifecycle, `${at}.lifecycle`)
    validateProbes(errors, container, at)
  }
  refuseSharedHostPorts(errors, list, path)
}

const fieldsOfServing = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']

function validateInitContainers(errors: FieldError[], list: readonly Part[], { names, volumes }: PodOfContainers, path: string): void {
  for (const [index, container] of list.entries()) {
    const at = `${path}[${index}]`
    validateContainer(errors, container, volumes, at)
    refuseTwice(errors, textOf(container, 'name'), names, at)
    refuseSharedHostPorts(errors, [container], path)
    for (const name of fieldsOfServing) {
      if (isGiven(container, name)) errors.push(forbiddenValue(`${at}.${name}`, 'may not be set for init containers'))
    }
  }
}

const fieldsOfFullContainers = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle']

function validateEphemeralContainers(
  errors: FieldError[],
  list: readonly Part[],
  { spec, names, volumes }: PodOfContainers,
  path: string,
): void {
  const refuse = (field: string): void => void errors.push(forbiddenValue(field, 'cannot be set for an Ephemeral Container'))
  const targets = new Set([...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')].map((target) => textOf(target, 'name')))
  for (const [index, container] of list.entries()) {
    const at = `${path}[${index}]`
    validateContainer(errors, container, volumes, at)
    refuseTwice(errors, textOf(container, 'name'), names, at)
    for (const name of fieldsOfFullContainers) if (isGiven(container, name)) refuse(`${at}.${name}`)
    if (Object.keys(optionalPart(container, 'resources') ?? {}).length > 0) refuse(`${at}.resources`)
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

function validateContainer(errors: FieldError[], container: Part, volumes: Volumes, at: string): void {
  requireChecked(errors, { part: container, name: 'name', at }, checkLabel)
  requireText(errors, { part: container, name: 'image', at })
  validateMessagePolicy(errors, textOf(container, 'terminationMessagePolicy'), `${at}.terminationMessagePolicy`)
  validatePorts(errors, itemsOf(container, 'ports'), `${at}.ports`)
  validateEnv(errors, itemsOf(container, 'env'), `${at}.env`)
  validateEnvFrom(errors, itemsOf(container, 'envFrom'), `${at}.envFrom`)
  validateVolumeMounts(errors, container, volumes, `${at}.volumeMounts`)
  validateVolumeDevices(errors, container, volumes, `${at}.volumeDevices`)
  requireOneOf(errors, { part: container, name: 'imagePullPolicy', at }, pullPolicies)
  const resources = optionalPart(container, 'resources')
  if (resources !== undefined) validateResources(errors, resources, `${at}.resources`)
  validateContainerSecurity(errors, optionalPart(container, 'securityContext'), `${at}.securityContext`)
}

function validateMessagePolicy(errors: FieldError[], policy: string, path: string): void {
  if (messagePolicies.includes(policy)) return
  errors.push(policy === '' ? requiredValue(path) : unsupportedValue(path, policy, messagePolicies))
}

function validatePorts(errors: FieldError[], ports: readonly Part[], path: string): void {
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = `${path}[${index}]`
    const name = textOf(port, 'name')
    if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    else allowChecked(errors, { part: port, name: 'name', at }, checkPortName)
    if (name !== '') names.add(name)
    const [inside, outside] = [Number(port['containerPort'] ?? 0), Number(port['hostPort'] ?? 0)]
    if (inside === 0) errors.push(requiredValue(`${at}.containerPort`))
    else for (const problem of checkPortNumber(inside)) errors.push(invalidValue(`${at}.containerPort`, inside, problem))
    if (outside !== 0) for (const problem of checkPortNumber(outside)) errors.push(invalidValue(`${at}.hostPort`, outside, problem))
    const protocol = textOf(port, 'protocol')
    if (protocol === '') errors.push(requiredValue(`${at}.protocol`))
    else if (!protocols.includes(protocol)) errors.push(unsupportedValue(`${at}.protocol`, protocol, protocols))
  }
}

/** A port of the node can be given out once for each protocol and address. */
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
