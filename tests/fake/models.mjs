// Lists of models, and what the known servers tell beside them, each in its own shape. options.models: { dialect: "openai" |
// "anthropic" | "openrouter" | "vllm" | "llamacpp" | "lmstudio" | "ollama" | "deepseek", list: [{ id, name?, window?, served?, maxOutput? }] }.

const created = 1_790_000_000;

const ENTRIES = {
  openai: (m) => ({ id: m.id, object: "model", created, owned_by: "fake" }),
  deepseek: (m) => ({ id: m.id, object: "model", owned_by: "deepseek" }),
  ollama: (m) => ({ id: m.id, object: "model", created, owned_by: "library" }),
  lmstudio: (m) => ({ id: m.id, object: "model", owned_by: "organization_owner" }),
  anthropic: (m) => ({
    type: "model", id: m.id, display_name: m.name ?? m.id, created_at: "2026-02-01T00:00:00Z", lifecycle: "active",
    ...(m.window ? { max_input_tokens: m.window } : {}), ...(m.maxOutput ? { max_tokens: m.maxOutput } : {}), capabilities: {},
  }),
  openrouter: (m) => ({
    id: m.id, name: m.name ?? m.id, created, context_length: m.window ?? null, architecture: { modality: "text->text" },
    pricing: { prompt: "0.000001", completion: "0.000002" },
    top_provider: { context_length: m.served ?? m.window ?? null, max_completion_tokens: m.maxOutput ?? null, is_moderated: false },
  }),
  vllm: (m) => ({ id: m.id, object: "model", created, owned_by: "vllm", root: m.id, parent: null, max_model_len: m.window ?? null, permission: [] }),
  llamacpp: (m) => ({ id: m.id, object: "model", created, owned_by: "llamacpp", meta: { vocab_type: 2, n_vocab: 32000, n_ctx_train: m.window ?? 0, n_embd: 4096, n_params: 1, size: 1 } }),
};

function list(dialect, models) {
  const data = models.map(ENTRIES[dialect]);
  if (dialect === "anthropic") return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data[data.length - 1]?.id ?? null };
  if (dialect === "openrouter") return { data };
  return { object: "list", data };
}

// The answer to a request that asks for models; null: this server has nothing at that path.
export function modelsAnswer(request, options) {
  const models = options.models?.list ?? [{ id: "fake", window: 131_072 }];
  const dialect = options.models?.dialect ?? (request.headers["anthropic-version"] ? "anthropic" : "openai");
  const path = request.path.split("?")[0];
  const one = models.find((m) => m.id === (request.body?.model ?? request.body?.name)) ?? models[0];
  if (request.method === "GET" && /^(\/api)?(\/v1)?\/models$/.test(path)) return list(dialect, models);
  if (request.method === "GET" && dialect === "anthropic" && path.startsWith("/v1/models/")) return ENTRIES.anthropic(models.find((m) => m.id === decodeURIComponent(path.slice(11))) ?? one);
  if (request.method === "GET" && dialect === "llamacpp" && path === "/props") return { default_generation_settings: { n_ctx: one.served ?? one.window, params: {} }, total_slots: 1, model_path: one.id };
  if (request.method === "GET" && dialect === "lmstudio" && path === "/api/v0/models")
    return { object: "list", data: models.map((m) => ({ id: m.id, object: "model", type: "llm", state: "loaded", max_context_length: m.window, loaded_context_length: m.served ?? m.window })) };
  if (request.method === "POST" && dialect === "ollama" && path === "/api/show")
    return { details: { family: "fake" }, model_info: { "general.architecture": "fake", "fake.context_length": one.window }, ...(one.served ? { parameters: `num_ctx ${one.served}` } : {}), capabilities: ["completion", "tools"] };
  if (request.method === "GET" && dialect === "ollama" && path === "/api/ps")
    return { models: one.served ? [{ name: one.id, model: one.id, size: 1, context_length: one.served }] : [] };
  return null;
}
