-- Links: each application may have its own, so that notifications open it and mails lead to its site.

CREATE OR REPLACE FUNCTION public_url(path text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('sociograph.public_url', true), ''),
    nullif(current_setting('sociograph.own_url', true), ''), 'http://localhost') || path
$$;
COMMENT ON FUNCTION public_url IS
  'Returns an address of the server, for applications without a template of their own. It begins with the public one, '
  'or, without that, with the one that the server listens on.';

CREATE OR REPLACE FUNCTION app_named(app text, account bigint DEFAULT 0) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT a.app FROM app_config a WHERE a.app = app_named.app),
    (SELECT s.app FROM session s JOIN app_config a ON a.app = s.app WHERE s.user_id = account
      ORDER BY coalesce(s.last_used_at, s.created_at) DESC, s.id DESC LIMIT 1));
END $$;
COMMENT ON FUNCTION app_named IS
  'Returns the application that a request names, otherwise that of the account''s latest session. Null without either.';

CREATE OR REPLACE FUNCTION app_now() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT a.app FROM app_config a WHERE a.app = current_setting('sociograph.app', true));
END $$;
COMMENT ON FUNCTION app_now IS 'Returns the application that the mutation''s client names. Null without one.';

CREATE OR REPLACE FUNCTION mail_app(account bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce(app_now(), app_named('', account));
END $$;
COMMENT ON FUNCTION mail_app IS
  'Returns the application that a mail to an account is from: that of the mutation, otherwise of its latest session.';

CREATE OR REPLACE FUNCTION link_template(app text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT a.link_template FROM app_config a WHERE a.app = link_template.app),
    public_url('/{path}'));
END $$;
COMMENT ON FUNCTION link_template IS
  'Returns what the links of an application''s notifications look like, with {path} in place of the path.';

CREATE OR REPLACE FUNCTION listed_reasons(app text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT nullif(a.notification_reasons, '{}') FROM app_config a WHERE a.app = listed_reasons.app);
END $$;
COMMENT ON FUNCTION listed_reasons IS
  'Returns the reasons of the notifications that an application lists. Null for all.';

CREATE OR REPLACE FUNCTION web_link(app text, path text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN replace(coalesce((SELECT a.web_template FROM app_config a WHERE a.app = web_link.app),
    public_url('/{path}')), '{path}', path);
END $$;
COMMENT ON FUNCTION web_link IS
  'Returns the web address of a path, for texts that leave the server, on the site of the application.';

CREATE OR REPLACE FUNCTION node_link(node bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT substr(node_path(node), 2) || wire_id(node)
$$;
COMMENT ON FUNCTION node_link IS 'Returns the path of the page of a node, such as posts/ID, for link_template.';

CREATE OR REPLACE FUNCTION comment_link(comment_id bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT node_link(c.subject_id) || '?comment=' || wire_id(c.id) FROM comment c WHERE c.id = comment_id);
END $$;
COMMENT ON FUNCTION comment_link IS 'Returns the path of a comment, on the page of its subject.';
