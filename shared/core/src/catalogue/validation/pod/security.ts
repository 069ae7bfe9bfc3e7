import { ref } from '../../../description/values.ts'
import { type FieldError, textSince } from '../../../meta/index.ts'
import { goValue } from '../../../schema/go-value.ts'
import { forbiddenValue, invalidValue, requiredValue, tooLongerValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { bytesOf } from '../../../validation/texts.ts'
import { profileBytesMax } from '../../app-armor.ts'
import { copiesHostPorts } from '../../defaults/pod.ts'
import { isGiven } from '../checks.ts'
import { validateDescendingPath } from './paths.ts'
import { containersOf } from './platform.ts'
import { hasOwnUsers } from './pod-context.ts'

const sysctlPart = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlFormat = `(${sysctlPart}[\\./])*${sysctlPart}`
const sysctlPattern = new RegExp(`^${sysctlFormat}$`)
const sysctlLengthMax = 253
const credentialBytesMax = 64 * 1024
const domainLengthMax = 256
const userLengthMax = 104

/** The security contexts of a Pod and its containers. */
export const securityRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PodSecurityContext': [
    ...['fsGroup', 'runAsUser', 'runAsGroup', 'supplementalGroups', 'sysctls', 'fsGroupChangePolicy', 'seccompProfile', 'windowsOptions'],
    ...['appArmorProfile', 'supplementalGroupsPolicy'],
    { passedOver: ['seLinuxChangePolicy'] },
    validateLabelling,
  ],
  'core/v1.Sysctl': ['name', validateSysctl],
  'core/v1.SecurityContext': [
    ...['runAsUser', 'runAsGroup', 'procMount'],
    validateProcMount,
    'seccompProfile',
    validatePrivileges,
    ...['windowsOptions', 'appArmorProfile'],
  ],
  'core/v1.AppArmorProfile': [validateAppArmorProfile],
  'core/v1.SeccompProfile': ['type', validateProfile],
  'core/v1.WindowsSecurityContextOptions': ['gmsaCredentialSpecName', validateWindowsOptions],
}

/** Validates the host namespaces that a Pod shares. */
export function validateSharing(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (spec['hostNetwork'] === true) validateHostPorts(errors, itemsOf(spec, 'containers'), `${at}.containers`, context)
  if (spec['hostUsers'] === false) refuseSharing(errors, spec, at, context)
  if (spec['shareProcessNamespace'] !== true || spec['hostPID'] !== true) return
  const detail = 'ShareProcessNamespace and HostPID cannot both be enabled'
  errors.push(invalidValue(`${at}.securityContext.shareProcessNamespace`, true, detail))
}

/** The first level that reports the host port, and not the container port. */
const hostPortsNamedSince = 28

/** With host networking, a container port equals its host port. Current templates omit host ports, and their Pods get them. */
function validateHostPorts(errors: FieldError[], containers: readonly Part[], path: string, context: RuleContext): void {
  const mayBeAbsent = !path.startsWith('spec.containers') && !copiesHostPorts(context.isGateOn, context.level)
  for (const [index, container] of containers.entries()) {
    for (const [position, port] of itemsOf(container, 'ports').entries()) {
      if (port['hostPort'] === port['containerPort'] || (mayBeAbsent && !port['hostPort'])) continue
      const [wrong, other] = context.level < hostPortsNamedSince ? ['containerPort', 'hostPort'] : ['hostPort', 'containerPort']
      const field = `${path}[${index}].ports[${position}].${wrong}`
      errors.push(invalidValue(field, port[wrong] ?? 0, `must match \`${other}\` when \`hostNetwork\` is true`))
    }
  }
}

/** The first level that refuses block devices in a Pod with its own user namespace, and that names its field as in JSON. */
const devicesRefusedSince = 34

/** The first level at which kube-apiserver spells two fields differently. */
const spelledSince = 26

/** A Pod with its own user namespace must not share other namespaces of the host. */
function refuseSharing(errors: FieldError[], spec: Part, path: string, context: RuleContext): void {
  const detail = textSince(devicesRefusedSince, { before: 'when `pod.Spec.HostUsers` is false', after: 'when `hostUsers` is false' })
  const [processes, messages] = context.level < spelledSince ? ['hostPID', 'hostIPC'] : ['HostPID', 'HostIPC']
  if (spec['hostNetwork'] === true) errors.push(forbiddenValue(`${path}.hostNetwork`, detail))
  if (spec['hostPID'] === true) errors.push(forbiddenValue(`${path}.${processes}`, detail))
  if (spec['hostIPC'] === true) errors.push(forbiddenValue(`${path}.${messages}`, detail))
  const live = liveAt(context, path)
  if (context.level < devicesRefusedSince || (live['hostUsers'] === false && devicesIn(live, path).length > 0)) return
  for (const at of devicesIn(spec, path)) errors.push(forbiddenValue(at, detail))
}

/** The paths of block devices in containers. */
function devicesIn(spec: Part, path: string): readonly string[] {
  return containersOf(spec, path).flatMap(([container, at]) => {
    return itemsOf(container, 'volumeDevices').length > 0 ? [`${at}.volumeDevices`] : []
  })
}

/** The first level that supports SELinux mount options for all volumes: the gate SELinuxMount. */
const mountOptionSince = 37

/** Validates the policy for SELinux labels of volumes. */
function validateLabelling(errors: FieldError[], security: Part, at: string, context: RuleContext): void {
  const policy = security['seLinuxChangePolicy']
  if (typeof policy !== 'string') return
  const isKept = policy === 'MountOption' && liveAt(context, at)['seLinuxChangePolicy'] === policy
  const policies = context.level >= mountOptionSince || isKept ? ['MountOption', 'Recursive'] : ['Recursive']
  if (!policies.includes(policy)) errors.push(unsupportedValue(`${at}.seLinuxChangePolicy`, policy, policies))
}

/** The first level that allows an unmasked /proc only in Pods with their own user namespace. */
const unmaskedSince = 30

function validateProcMount(errors: FieldError[], security: Part, at: string, context: RuleContext): void {
  if (security['procMount'] !== 'Unmasked' || context.level < unmaskedSince || hasOwnUsers(context)) return
  errors.push(invalidValue(`${at}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`'))
}

const missingProfile = 'must be set when AppArmor type is Localhost'

function validateAppArmorProfile(errors: FieldError[], profile: Part, at: string): void {
  const [type, name, path] = [textOf(profile, 'type'), profile['localhostProfile'], `${at}.localhostProfile`]
  if (type === '') errors.push(requiredValue(`${at}.type`, 'type is required when appArmorProfile is set'))
  else if (type === 'Localhost') {
    if (typeof name !== 'string' || name === '') errors.push(requiredValue(path, missingProfile))
    else if (name.trim() !== name) errors.push(invalidValue(path, name, 'must not be padded with whitespace'))
    if (typeof name === 'string' && bytesOf(name) > profileBytesMax) errors.push(tooLongerValue(path, profileBytesMax))
  } else if (type !== 'RuntimeDefault' && type !== 'Unconfined') {
    errors.push(unsupportedValue(`${at}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']))
  } else if (isGiven(profile, 'localhostProfile')) {
    errors.push(invalidValue(path, name, 'can only be set when AppArmor type is Localhost'))
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
  } else if (!isGiven(profile, 'localhostProfile')) {
    errors.push(requiredValue(`${at}.localhostProfile`, 'must be set when seccomp type is Localhost'))
  } else {
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

/** The errors of `DOMAIN\user`; empty if it is valid. */
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
