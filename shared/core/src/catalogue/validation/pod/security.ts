import { ref } from '../../../description/define.ts'
import type { FieldError } from '../../../meta/status.ts'
import { checkSubdomain } from '../../../meta/validate-names.ts'
import { goValue } from '../../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { allowBetween, allowChecked, allowOneOf, isGiven, requireText } from '../checks.ts'
import { validateDescendingPath } from './paths.ts'

const identityRange = { min: 0, max: 2 ** 31 - 1 }
const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const sysctlPart = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlFormat = `(${sysctlPart}[\\./])*${sysctlPart}`
const sysctlPattern = new RegExp(`^${sysctlFormat}$`)
const sysctlLengthMax = 253
const credentialBytesMax = 64 * 1024
const domainLengthMax = 256
const userLengthMax = 104

/** What holds for all containers of a Pod, and what it shares with its node. */
export function validatePodSecurity(errors: FieldError[], spec: Part, path: string): void {
  const context = optionalPart(spec, 'securityContext')
  const at = `${path}.securityContext`
  if (spec['hostNetwork'] === true) validateHostPorts(errors, itemsOf(spec, 'containers'), `${path}.containers`)
  if (spec['hostUsers'] === false) refuseSharing(errors, spec, path)
  if (spec['shareProcessNamespace'] === true && spec['hostPID'] === true) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled'
    errors.push(invalidValue(`${at}.shareProcessNamespace`, true, detail))
  }
  if (context === undefined) return
  for (const name of ['fsGroup', 'runAsUser', 'runAsGroup']) allowBetween(errors, { part: context, name, at }, identityRange)
  for (const [index, group] of itemsOf<number>(context, 'supplementalGroups').entries()) {
    allowBetween(errors, { part: { [`supplementalGroups[${index}]`]: group }, name: `supplementalGroups[${index}]`, at }, identityRange)
  }
  validateSysctls(errors, itemsOf(context, 'sysctls'), `${at}.sysctls`)
  allowOneOf(errors, { part: context, name: 'fsGroupChangePolicy', at }, ['Always', 'OnRootMismatch'])
  validateProfile(errors, optionalPart(context, 'seccompProfile'), `${at}.seccompProfile`)
  validateWindowsOptions(errors, optionalPart(context, 'windowsOptions'), `${at}.windowsOptions`)
}

/** In the node's own network a container's port is the node's port. */
function validateHostPorts(errors: FieldError[], containers: readonly Part[], path: string): void {
  for (const [index, container] of containers.entries()) {
    for (const [position, port] of itemsOf(container, 'ports').entries()) {
      if (port['hostPort'] === port['containerPort']) continue
      const field = `${path}[${index}].ports[${position}].containerPort`
      errors.push(invalidValue(field, port['containerPort'], 'must match `hostPort` when `hostNetwork` is true'))
    }
  }
}

function refuseSharing(errors: FieldError[], spec: Part, path: string): void {
  for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) {
    if (spec[name] === true) errors.push(forbiddenValue(`${path}.${name}`, 'when `pod.Spec.HostUsers` is false'))
  }
}

function validateSysctls(errors: FieldError[], sysctls: readonly Part[], path: string): void {
  const seen = new Set<string>()
  for (const [index, sysctl] of sysctls.entries()) {
    const at = `${path}[${index}]`
    const name = textOf(sysctl, 'name')
    if (requireText(errors, { part: sysctl, name: 'name', at })) {
      const detail = `must have at most ${sysctlLengthMax} characters and match regex ^${sysctlFormat}$`
      if (name.length > sysctlLengthMax || !sysctlPattern.test(name)) errors.push(invalidValue(`${at}.name`, name, detail))
      else if (seen.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    }
    seen.add(name)
  }
}

/** What holds for one container. */
export function validateContainerSecurity(errors: FieldError[], context: Part | undefined, path: string): void {
  if (context === undefined) return
  for (const name of ['runAsUser', 'runAsGroup']) allowBetween(errors, { part: context, name, at: path }, identityRange)
  validateProfile(errors, optionalPart(context, 'seccompProfile'), `${path}.seccompProfile`)
  if (context['allowPrivilegeEscalation'] === false) {
    const refuse = (why: string): void =>
      void errors.push(
        invalidValue(path, goValue(ref('core/v1.SecurityContext'), context), `cannot set \`allowPrivilegeEscalation\` to false and ${why}`),
      )
    if (context['privileged'] === true) refuse('`privileged` to true')
    if (itemsOf<string>(partOf(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) refuse('`capabilities.Add` CAP_SYS_ADMIN')
  }
  validateWindowsOptions(errors, optionalPart(context, 'windowsOptions'), `${path}.windowsOptions`)
}

function validateProfile(errors: FieldError[], profile: Part | undefined, at: string): void {
  if (profile === undefined) return
  const type = textOf(profile, 'type')
  if (type === '') errors.push(requiredValue(`${at}.type`, 'type is required when seccompProfile is set'))
  else if (!profileTypes.includes(type)) errors.push(unsupportedValue(`${at}.type`, type, profileTypes))
  const file = textOf(profile, 'localhostProfile')
  if (type !== 'Localhost') {
    if (isGiven(profile, 'localhostProfile')) {
      errors.push(invalidValue(`${at}.localhostProfile`, profile, 'can only be set when seccomp type is Localhost'))
    }
  } else if (requireText(errors, { part: profile, name: 'localhostProfile', at }, 'must be set when seccomp type is Localhost')) {
    validateDescendingPath(errors, file, `${at}.localhostProfile`)
  }
}

function validateWindowsOptions(errors: FieldError[], options: Part | undefined, at: string): void {
  if (options === undefined) return
  allowChecked(errors, { part: options, name: 'gmsaCredentialSpecName', at }, checkSubdomain)
  if (isGiven(options, 'gmsaCredentialSpec')) {
    const size = textOf(options, 'gmsaCredentialSpec').length
    const refuse = (detail: string): void =>
      void errors.push(invalidValue(`${at}.gmsaCredentialSpec`, options['gmsaCredentialSpec'], detail))
    if (size === 0) refuse('gmsaCredentialSpec cannot be an empty string')
    if (size > credentialBytesMax) refuse('gmsaCredentialSpec size must be under 64 KiB')
  }
  if (!isGiven(options, 'runAsUserName')) return
  const name = textOf(options, 'runAsUserName')
  for (const problem of checkUserName(name)) errors.push(invalidValue(`${at}.runAsUserName`, name, problem))
}

/** What is wrong with `DOMAIN\user`; empty when nothing is. */
function checkUserName(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1) ?? ''
  const problems: string[] = []
  if (parts.length === 2) problems.push(...checkDomain(parts[0] ?? ''))
  if (user.length > userLengthMax) problems.push(`runAsUserName's User length must not be longer than ${userLengthMax} characters`)
  if (/^[. ]*$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return problems
}

function checkDomain(domain: string): readonly string[] {
  if (domain.length > domainLengthMax) return [`runAsUserName's Domain length must be under ${domainLengthMax} characters`]
  const isNetBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/.test(domain)
  const isDns = /^[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]$/.test(domain)
  return isNetBios || isDns ? [] : ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]
}
