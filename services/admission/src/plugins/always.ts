import { allowed, denied, forbid, type Plugin } from '../plugin.ts'

/**
 * The plugin without an effect. AlwaysAdmit allows everything. PodGroupProtection protects PodGroups, which no level of this server has.
 * PersistentVolumeLabel asked a cloud provider for the zone of a volume.
 */
export function withoutRules(): Plugin {
  return { admissionRules: [] }
}

/** The server needs its own objects to become ready. */
const ownUser = 'system:apiserver'

/** AlwaysDeny refuses everything except the bootstrap writes of the server. */
export function alwaysDeny(): Plugin {
  return {
    admissionRules: [{ phase: 'validate', operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [] }],
    validate: (attributes) =>
      attributes.user.name === ownUser ? allowed : denied(forbid(attributes, 'admission control is denying all modifications')),
  }
}
