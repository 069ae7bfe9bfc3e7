/** A text that cannot be read as YAML; the message is the one that clients know from sigs.k8s.io/yaml. */
export class YamlError extends Error {}
