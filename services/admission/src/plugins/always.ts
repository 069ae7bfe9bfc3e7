import { allowed, denied, type Plugin, type Registration } from '../plugin.ts'
import { forbid } from './pod.ts'

/** AlwaysAdmit has nothing to say, and asks for nothing. */
export const alwaysAdmit: Registration = {
  isDefault: false,
  create: () => ({ name: 'AlwaysAdmit', admissionRules: [], close: () => {} }),
}

/** PodGroupProtection would hold PodGroups that Pods are in; this server has no PodGroups, at any level. */
export const podGroupProtection: Registration = {
  isDefault: true,
  since: 36,
  create: () => ({ name: 'PodGroupProtection', admissionRules: [], close: () => {} }),
}

/** AlwaysDeny refuses everything except the server's own needs at its start. */
export const alwaysDeny: Registration = { isDefault: false, create: createAlwaysDeny }

/** Without its own objects a server would never become ready. */
const ownUser = 'system:apiserver'

function createAlwaysDeny(): Plugin {
  return {
    name: 'AlwaysDeny',
    admissionRules: [{ phase: 'validate', operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [] }],
    validate: (attributes) =>
      attributes.user.name === ownUser ? allowed : denied(forbid(attributes, 'admission control is denying all modifications')),
    close: () => {},
  }
}
