import { allowed, denied, forbid, type Plugin, type Registration } from '../plugin.ts'

/** AlwaysAdmit allows everything and has no rules. */
export const alwaysAdmit: Registration = {
  isDefault: false,
  create: () => ({ admissionRules: [] }),
}

/** PodGroupProtection would protect PodGroups in use; this server has no PodGroups, at any level. */
export const podGroupProtection: Registration = {
  isDefault: true,
  since: 36,
  create: () => ({ admissionRules: [] }),
}

/** AlwaysDeny refuses everything except the bootstrap writes of the server. */
export const alwaysDeny: Registration = { isDefault: false, create: createAlwaysDeny }

/** The server needs its own objects to become ready. */
const ownUser = 'system:apiserver'

function createAlwaysDeny(): Plugin {
  return {
    admissionRules: [{ phase: 'validate', operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [] }],
    validate: (attributes) =>
      attributes.user.name === ownUser ? allowed : denied(forbid(attributes, 'admission control is denying all modifications')),
  }
}
