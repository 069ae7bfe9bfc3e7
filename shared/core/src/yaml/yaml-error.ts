/** An invalid YAML text; the message is that of sigs.k8s.io/yaml, which clients know. */
export class YamlError extends Error {}
