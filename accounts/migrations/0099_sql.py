from django.db import migrations

SQL = [
    "CREATE OR REPLACE FUNCTION public.plan_runs(member member)\n RETURNS boolean\n LANGUAGE sql\n STABLE\nAS $function$\n    SELECT (member).plan = 'PREMIUM' AND (\n        (member).plan_expires_at IS NULL OR (member).plan_expires_at > now()\n        OR (member).plan_auto_renew\n    )\n$function$\n;",
    "CREATE OR REPLACE FUNCTION public.has_premium(member member)\n RETURNS boolean\n LANGUAGE sql\n STABLE\nAS $function$\n    SELECT (member).role = 'ADMIN' OR plan_runs(member)\n$function$\n;",
    "CREATE OR REPLACE FUNCTION public.member_into_sessions()\n RETURNS trigger\n LANGUAGE plpgsql\nAS $function$\nBEGIN\n    UPDATE auth_session\n    SET plan = NEW.plan, display_name = NEW.display_name, version = version + 1\n    WHERE member_id = NEW.id;\n    RETURN NULL;\nEND\n$function$\n;",
    "CREATE OR REPLACE FUNCTION public.member_plan_since()\n RETURNS trigger\n LANGUAGE plpgsql\nAS $function$\nBEGIN\n    IF NOT has_premium(NEW) THEN\n        NEW.plan_since := NULL;\n    ELSIF TG_OP = 'INSERT' OR NOT has_premium(OLD) THEN\n        NEW.plan_since := now();\n    ELSE\n        NEW.plan_since := OLD.plan_since;\n    END IF;\n    RETURN NEW;\nEND\n$function$\n;",
    "CREATE OR REPLACE FUNCTION public.tally_changed_member()\n RETURNS trigger\n LANGUAGE plpgsql\nAS $function$\nBEGIN\n    INSERT INTO member_tally (role, status, plan, members)\n    VALUES (OLD.role, OLD.status, OLD.plan, -1), (NEW.role, NEW.status, NEW.plan, 1);\n    RETURN NULL;\nEND\n$function$\n;",
    "CREATE OR REPLACE FUNCTION public.tally_gone_members()\n RETURNS trigger\n LANGUAGE plpgsql\nAS $function$\nBEGIN\n    INSERT INTO member_tally (role, status, plan, members)\n    SELECT role, status, plan, -count(*) FROM gone_members GROUP BY 1, 2, 3;\n    RETURN NULL;\nEND\n$function$\n;",
    "CREATE OR REPLACE FUNCTION public.tally_new_members()\n RETURNS trigger\n LANGUAGE plpgsql\nAS $function$\nBEGIN\n    INSERT INTO member_tally (role, status, plan, members)\n    SELECT role, status, plan, count(*) FROM new_members GROUP BY 1, 2, 3;\n    RETURN NULL;\nEND\n$function$\n;",
    "CREATE TRIGGER member_into_sessions AFTER UPDATE OF login_id, display_name, role, status, plan, plan_expires_at, plan_auto_renew ON public.member FOR EACH ROW WHEN (((((((((old.login_id)::text IS DISTINCT FROM (new.login_id)::text) OR ((old.display_name)::text IS DISTINCT FROM (new.display_name)::text)) OR ((old.role)::text IS DISTINCT FROM (new.role)::text)) OR ((old.status)::text IS DISTINCT FROM (new.status)::text)) OR ((old.plan)::text IS DISTINCT FROM (new.plan)::text)) OR (old.plan_expires_at IS DISTINCT FROM new.plan_expires_at)) OR (old.plan_auto_renew IS DISTINCT FROM new.plan_auto_renew))) EXECUTE FUNCTION member_into_sessions();",
    "CREATE TRIGGER member_plan_since BEFORE INSERT OR UPDATE OF role, plan, plan_expires_at, plan_auto_renew ON public.member FOR EACH ROW EXECUTE FUNCTION member_plan_since();",
    "CREATE TRIGGER tally_changed_member AFTER UPDATE OF role, status, plan ON public.member FOR EACH ROW WHEN (((((old.role)::text IS DISTINCT FROM (new.role)::text) OR ((old.status)::text IS DISTINCT FROM (new.status)::text)) OR ((old.plan)::text IS DISTINCT FROM (new.plan)::text))) EXECUTE FUNCTION tally_changed_member();",
    "CREATE TRIGGER tally_gone_members AFTER DELETE ON public.member REFERENCING OLD TABLE AS gone_members FOR EACH STATEMENT EXECUTE FUNCTION tally_gone_members();",
    "CREATE TRIGGER tally_new_members AFTER INSERT ON public.member REFERENCING NEW TABLE AS new_members FOR EACH STATEMENT EXECUTE FUNCTION tally_new_members();",
    "CREATE INDEX member_plan_expiry ON member (plan_expires_at) WHERE plan = 'PREMIUM' AND plan_expires_at IS NOT NULL;"
]


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.RunSQL(s, migrations.RunSQL.noop) for s in SQL
    ]
