import { ref } from '../../../description/define.ts'
import type { FieldError } from '../../../meta/status.ts'
import { goValue } from '../../../schema/go-value.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { TypeRules } from '../../../validation/rule-book.ts'
import { isGiven, requireText } from '../checks.ts'
import { validateDescendingPath } from './paths.ts'

const sysctlPart = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlFormat = `(${sysctlPart}[\\./])*${sysctlPart}`
const sysctlPattern = new RegExp(`^${sysctlFormat}$`)
const sysctlLengthMax = 253
const credentialBytesMax = 64 * 1024
const domainLengthMax = 256
const userLengthMax = 104

/** The rules for a Pod's containers, all or one. */
export const securityRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PodSecurityContext': [
    ...['fsGroup', 'runAsUser', 'runAsGroup', 'supplementalGroups', 'sysctls', 'fsGroupChangePolicy', 'seccompProfile', 'windowsOptions'],
  ],
  'core/v1.Sysctl': ['name', validateSysctl],
  'core/v1.SecurityContext': ['runAsUser', 'runAsGroup', 'seccompProfile', validatePrivileges, 'windowsOptions'],
  'core/v1.SeccompProfile': ['type', validateProfile],
  'core/v1.WindowsSecurityContextOptions': ['gmsaCredentialSpecName', validateWindowsOptions],
}

/** The namespaces that a Pod shares with its node. */
export function validateSharing(errors: FieldError[], spec: Part, at: string): void {
  if (spec['hostNetwork'] === true) validateHostPorts(errors, itemsOf(spec, 'containers'), `${at}.containers`)
  if (spec['hostUsers'] === false) refuseSharing(errors, spec, at)
  if (spec['shareProcessNamespace'] !== true || spec['hostPID'] !== true) return
  const detail = 'ShareProcessNamespace and HostPID cannot both be enabled'
  errors.push(invalidValue(`${at}.securityContext.shareProcessNamespace`, true, detail))
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

function validateSysctl(errors: FieldError[], sysctl: Part, at: string): void {
  const name = textOf(sysctl, 'name')
  if (name === '' || (name.length <= sysctlLengthMax && sysctlPattern.test(name))) return
  errors.push(invalidValue(`${at}.name`, name, `must have at most ${sysctlLengthMax} characters and match regex ^${sysctlFormat}$`))
}

function validatePrivileges(errors: FieldError[], context: Part, at: string): void {
  if (context['allowPrivilegeEscalation'] !== false) return
  const refuse = (why: string): void => {
    const shown = goValue(ref('core/v1.SecurityContext'), context)
    errors.push(invalidValue(at, shown, `cannot set \`allowPrivilegeEscalation\` to false and ${why}`))
  }
  if (context['privileged'] === true) refuse('`privileged` to true')
  if (itemsOf<string>(partOf(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) refuse('`capabilities.Add` CAP_SYS_ADMIN')
}

function validateProfile(errors: FieldError[], profile: Part, at: string): void {
  const file = textOf(profile, 'localhostProfile')
  if (textOf(profile, 'type') !== 'Localhost') {
    if (isGiven(profile, 'localhostProfile')) {
      errors.push(invalidValue(`${at}.localhostProfile`, profile, 'can only be set when seccomp type is Localhost'))
    }
  } else if (requireText(errors, { part: profile, name: 'localhostProfile', at }, 'must be set when seccomp type is Localhost')) {
    validateDescendingPath(errors, file, `${at}.localhostProfile`)
  }
}

function validateWindowsOptions(errors: FieldError[], options: Part, at: string): void {
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

/** The errors of `DOMAIN\user`; empty for none. */
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
