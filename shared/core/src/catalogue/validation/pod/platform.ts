import { ref } from '../../../description/values.ts'
import type { FieldError } from '../../../meta/status.ts'
import { resolveNode } from '../../../schema/resolve.ts'
import { forbiddenValue, invalidValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { isGiven, requireText } from '../checks.ts'

const containerLists = ['initContainers', 'containers', 'ephemeralContainers']
const podFieldsOfLinux = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
]
const containerFieldsOfLinux = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
]

const signalsOfWindows = ['SIGKILL', 'SIGTERM']

/** A stop signal requires `os.name`, which determines the valid signals. */
function validateStopSignals(errors: FieldError[], spec: Part, path: string): void {
  const system = textOf(partOf(spec, 'os'), 'name')
  for (const [container, at] of containersOf(spec, path)) {
    const signal = partOf(container, 'lifecycle')['stopSignal']
    if (signal === undefined || signal === null) continue
    const field = `${at}.lifecycle.stopSignal`
    const values = system === 'windows' ? signalsOfWindows : signalsOfLinux()
    if (system === '') errors.push(forbiddenValue(field, 'may not be set for containers with empty `spec.os.name`'))
    else if (!values.includes(String(signal))) errors.push(unsupportedValue(field, String(signal), values))
  }
}

function signalsOfLinux(): readonly string[] {
  const node = resolveNode(ref('core/v1.Signal'))
  return node.kind === 'string' ? (node.values ?? []).toSorted() : []
}

/** A Pod that names its operating system must not set fields of another one. */
export function validateOperatingSystem(errors: FieldError[], spec: Part, path: string): void {
  const system = optionalPart(spec, 'os')
  validateStopSignals(errors, spec, path)
  if (system === undefined) return
  if (!requireText(errors, { part: system, name: 'name', at: `${path}.os` })) return
  const name = textOf(system, 'name')
  if (name === 'linux') refuseWindowsOptions(errors, spec, path)
  else if (name === 'windows') refuseLinuxOptions(errors, spec, path)
  else errors.push(unsupportedValue(`${path}.os`, name, ['linux', 'windows']))
}

function refuseWindowsOptions(errors: FieldError[], spec: Part, path: string): void {
  const refuse = (at: string): void =>
    void errors.push(forbiddenValue(`${at}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'))
  if (isGiven(partOf(spec, 'securityContext'), 'windowsOptions')) refuse(path)
  for (const [container, at] of containersOf(spec, path)) {
    if (isGiven(partOf(container, 'securityContext'), 'windowsOptions')) refuse(at)
  }
}

function refuseLinuxOptions(errors: FieldError[], spec: Part, path: string): void {
  const refuse = (field: string): void => void errors.push(forbiddenValue(field, 'cannot be set for a windows pod'))
  const context = partOf(spec, 'securityContext')
  for (const name of podFieldsOfLinux) if (isGiven(context, name)) refuse(`${path}.securityContext.${name}`)
  if (isGiven(spec, 'hostUsers')) refuse(`${path}.hostUsers`)
  for (const name of ['hostPID', 'hostIPC']) if (spec[name] === true) refuse(`${path}.${name}`)
  if (isGiven(spec, 'shareProcessNamespace')) refuse(`${path}.shareProcessNamespace`)
  for (const [container, at] of containersOf(spec, path)) {
    const own = partOf(container, 'securityContext')
    for (const name of containerFieldsOfLinux) if (isGiven(own, name)) refuse(`${at}.securityContext.${name}`)
  }
}

/** On Windows, either all containers of a Pod are host processes or none is. */
export function validateHostProcesses(errors: FieldError[], spec: Part, path: string): void {
  const ofPod = hostProcessOf(spec)
  let count = 0
  let others = 0
  for (const [container, at] of containersOf(spec, path)) {
    const own = hostProcessOf(container)
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      errors.push(invalidValue(`${at}.securityContext.windowsOptions.hostProcess`, own, detail))
    }
    if (own ?? ofPod ?? false) count += 1
    else others += 1
  }
  if (count === 0) return
  if (others > 0) {
    errors.push(invalidValue(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'))
  }
  if (spec['hostNetwork'] !== true) {
    errors.push(invalidValue(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'))
  }
}

function hostProcessOf(owner: Part): boolean | undefined {
  const value = optionalPart(optionalPart(owner, 'securityContext'), 'windowsOptions')?.['hostProcess']
  return typeof value === 'boolean' ? value : undefined
}

/** All containers of a Pod with their paths. */
export function containersOf(spec: Part, path: string): (readonly [Part, string])[] {
  return containerLists.flatMap((list) => itemsOf(spec, list).map((container, index) => [container, `${path}.${list}[${index}]`] as const))
}
